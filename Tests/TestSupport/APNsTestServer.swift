import JOSE
package import JSON
package import OpenSSL
import Threads
package import Time

/// Apple's push service as far as a sender can tell: nginx speaks HTTP/2 and TLS, and a server behind it checks each
/// request as Apple documents it ("Sending notification requests to APNs") and answers as the test says.
package final class APNsTestServer: Sendable {
    package static let teamID = "TEAM123456"
    package static let keyID = "KEY1234567"
    package static let topic = "com.example.app"

    package struct Notification: Sendable {
        package let token: String
        package let payload: JSONValue
        package let expiration: String?
        package let providerToken: String
        /// The number of the connection, and of the request on it.
        package let connection: String
        package let request: String
    }

    package enum Reply: Sendable {
        case taken
        case refused(status: Int, reason: String, more: String = "", headers: [(String, String)] = [])
        /// The request's stream is reset.
        case lost
        /// Nothing, until the client gives up.
        case silence
    }

    private struct State {
        var notifications: [Notification] = []
        var replies: [Reply] = []
        var faults: [String] = []
        var oldestToken: Timestamp?
    }

    package let url: String
    /// Its certificate, which is its own authority, as a PEM file.
    package var certificate: String { directory.file("fullchain.pem") }
    package let privateKey: PrivateKey
    private let directory: TemporaryDirectory
    private let backend: LocalHTTPServer
    private let nginx: Nginx
    private let state: Monitor<State>

    /// - Parameter protocols: `http2` after `listen … ssl`; empty: the server speaks HTTP/1.1 only.
    package init(protocols: String = "http2") throws {
        let directory = try TemporaryDirectory()
        let outcome = try ChildProcess.run(
            "/usr/bin/openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
                "-subj", "/CN=test", "-addext", "subjectAltName=DNS:localhost", "-keyout",
                directory.file("privkey.pem"),
                "-out", directory.file("fullchain.pem"),
            ])
        guard outcome.exit == .status(0) else { throw TestSupportError(outcome.errorOutput) }
        let (key, state) = (try PrivateKey.generateP256(), Monitor(State()))
        let keySet = KeySet([JWK(keyID: Self.keyID, key: key.publicKey)])
        let backend = try LocalHTTPServer { Self.answer($0, keySet, state) }
        nginx = try Nginx { port in
            """
            events {}
            http {
                \(Nginx.ownFolders)
                access_log off;
                server {
                    listen 127.0.0.1:\(port) ssl \(protocols);
                    ssl_certificate \(directory.file("fullchain.pem"));
                    ssl_certificate_key \(directory.file("privkey.pem"));
                    location /lost { internal; return 444; }
                    location / {
                        proxy_pass \(backend.url);
                        proxy_set_header X-Protocol $server_protocol;
                        proxy_set_header X-Connection $connection;
                        proxy_set_header X-Connection-Request $connection_requests;
                    }
                }
            }
            """
        }
        url = "https://localhost:\(nginx.port)"
        privateKey = key
        self.directory = directory
        self.backend = backend
        self.state = state
    }

    /// What was taken or refused, in order.
    package var notifications: [Notification] { state.withLock(\.notifications) }
    /// How requests were not as Apple wants them.
    package var faults: [String] { state.withLock(\.faults) }

    /// The answers to the next notifications; those after them are taken.
    package func reply(_ replies: Reply...) { state.change { $0.replies += replies } }

    /// Provider tokens that were issued before are refused as expired.
    package func expireTokens(before time: Timestamp) { state.change { $0.oldestToken = time } }

    package func wait(forNotifications count: Int, atMost time: Duration = .seconds(20)) -> Bool {
        state.wait(atMost: time) { $0.notifications.count >= count ? true : nil } ?? false
    }

    private static func answer(
        _ request: LocalHTTPServer.Request, _ keySet: KeySet, _ state: Monitor<State>
    ) -> LocalHTTPServer.Reply {
        let authorization = request.header("authorization") ?? ""
        let providerToken = String(authorization.dropFirst("bearer ".count))
        let path = request.path.split(separator: "/", omittingEmptySubsequences: false)
        let expected: [(name: String, value: String)] = [
            ("x-protocol", "HTTP/2.0"), ("apns-topic", topic), ("apns-push-type", "alert"), ("apns-priority", "10"),
        ]
        var faults = expected.filter { request.header($0.name) != $0.value }.map(\.name)
        if request.method != "POST" || path.count != 4 || path[1] != "3" || path[2] != "device" {
            faults.append("path \(request.path)")
        }
        var issuedAt: Timestamp?
        do {
            let token = try JWT(providerToken)
            try token.verify(with: keySet)
            if token.algorithm != .es256 || token.claims["iss"]?.string != teamID { faults.append("claims") }
            if case .integer(let time)? = token.claims["iat"] {
                issuedAt = Timestamp(seconds: time)
            } else {
                faults.append("iat")
            }
        } catch {
            faults.append("provider token: \(error)")
        }
        let notification = Notification(
            token: path.last.map(String.init) ?? "", payload: (try? JSONValue(json: request.body)) ?? .null,
            expiration: request.header("apns-expiration"), providerToken: providerToken,
            connection: request.header("x-connection") ?? "", request: request.header("x-connection-request") ?? "")
        let reply = state.change { state -> Reply in
            state.notifications.append(notification)
            state.faults += faults
            if let oldest = state.oldestToken, let issuedAt, issuedAt < oldest {
                return .refused(status: 403, reason: "ExpiredProviderToken")
            }
            return state.replies.isEmpty ? .taken : state.replies.removeFirst()
        }
        switch reply {
        case .silence: return .silence
        case .lost: return .response(headers: [("X-Accel-Redirect", "/lost")])
        case .taken: return .response(headers: [("apns-id", "EC1BF194-B3B2-424A-89A9-5A918A6E6B5D")])
        case .refused(let status, let reason, let more, let headers):
            return .response(status: status, headers: headers, body: Array(#"{"reason":"\#(reason)"\#(more)}"#.utf8))
        }
    }
}
