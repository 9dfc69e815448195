import FoundationEssentials
import IdentityTokens
import JSON
import MariaDB
import OpenSSL
import TestSupport
import Testing
import Text
import Threads

@testable import Accounts

/// A running server behind nginx, with `merganserctl dev provider` in Apple's place (accounts §4.5).
@Suite struct AppleServerTests {
    private let front: Front
    private let installation: Installation
    private let provider: ChildProcess
    private let apple: String
    private let client: [String: String]

    init() throws {
        front = try Front()
        installation = try Installation([
            "MERGANSER_ISSUER": front.url, "MERGANSER_SOCKET": front.run.file("merganser.sock"),
            "MERGANSER_DEV_KEYS_DIRECTORY": front.run.file("keys"),
            "MERGANSER_APPLE_JWKS_URL": "\(front.url)/dev/apple/keys",
            "MERGANSER_APPLE_WEB_CLIENT_ID": "com.example.web",
        ])
        #expect(try installation.tool("dev", "issuer", "init").exit == .status(0))
        let provider = try ChildProcess(
            Repository.program("merganserctl"), ["dev", "provider", "--port", "0", "--json"],
            environment: installation.environment)
        try provider.wait(for: "an address") { provider.output.contains("\n") }
        apple = try #require(try JSONValue(json: Array(provider.output.utf8))["address"]?.string) + "/apple"
        self.provider = provider
        client = [
            "MERGANSER_APPLE_TEAM_ID": "TEAM", "MERGANSER_APPLE_KEY_ID": "KEY",
            "MERGANSER_APPLE_PRIVATE_KEY": TestIssuer.ellipticCurveKey.pem,
            "MERGANSER_APPLE_TOKEN_URL": "\(apple)/token", "MERGANSER_APPLE_REVOCATION_URL": "\(apple)/revoke",
        ]
    }

    private func ask(
        _ method: String, _ url: String, _ body: JSONValue? = nil, form: String? = nil, token: String? = nil
    ) throws -> (status: Int, body: JSONValue?) {
        let parts = try #require(url.wholeMatch(of: /http:\/\/127\.0\.0\.1:(\d+)(\/.*)/))
        var headers = token.map { [("Authorization", "Bearer \($0)")] } ?? []
        headers.append(
            ("Content-Type", form == nil ? "application/json" : "application/x-www-form-urlencoded"))
        let answer = try HTTPConnection(port: try #require(UInt16(parts.1))).ask(
            method, String(parts.2), headers: headers, body: body?.json() ?? form.map { Array($0.utf8) } ?? [])
        return (answer.status, try? JSONValue(json: answer.body))
    }

    private func signIn(_ subject: String) throws -> String {
        let token = try installation.tool(
            "dev", "token", "--provider", "apple", "--subject", subject, "--nonce", "n", "--json")
        let code = "stand-in.\(Base64URL.encode(Array(subject.utf8)))"
        let answer = try ask(
            "POST", "\(front.url)/api/v1/auth/apple/session",
            [
                "identity_token": try #require(try token.json()["identity_token"]), "raw_nonce": "n",
                "authorization_code": .string(code),
            ])
        return try #require(answer.body?["access_token"]?.string, "\(answer)")
    }

    @Test func aDeletionRevokesAndANotificationSignsOut() throws {
        let server = try installation.readyServer(setting: client)
        defer { withExtendedLifetime((front, provider)) {} }
        let (ada, bob) = (try signIn("ada"), try signIn("bob"))
        let db = try installation.database.connect()
        func subjects() throws -> [String] {
            try db.all("SELECT sub FROM identities WHERE apple_token IS NOT NULL ORDER BY sub") { row in
                try row.read()
            }
        }
        #expect(try subjects() == ["ada", "bob"])

        #expect(try ask("DELETE", "\(front.url)/api/v1/me", token: ada).status == 202)
        func revoked() throws -> [String] {
            try ask("GET", "\(apple)/revoke").body?.array?.compactMap(\.string) ?? []
        }
        try server.wait(for: "the revocation") { try revoked().count == 1 }
        let token = try #require(try revoked().first)
        #expect(token.hasPrefix("r.\(Base64URL.encode(Array("ada".utf8)))."))
        try server.wait(for: "the outcome") {
            let text = String(decoding: try installation.ask("GET", "/metrics", at: "control.sock").body, as: UTF8.self)
            let metrics = try Exposed(text)
            return metrics["merganser_apple_revocation_attempts_total", "{outcome=\"delivered\"}"] == 1
                && metrics["merganser_apple_revocation_delivery_seconds_count"] == 1
                && metrics["merganser_apple_revocation_dead_total"] == 0
        }
        #expect(try subjects() == ["bob"])

        let notified = try ask("POST", "\(apple)/notify", form: "type=consent-revoked&sub=bob")
        #expect(notified.body?["status"] == 200, "\(notified)")
        #expect(try ask("GET", "\(front.url)/api/v1/me", token: bob).status == 401)

        server.terminate()
        #expect(try server.waitForExit() == .status(0))
        #expect(!server.errorOutput.contains(token) && !server.errorOutput.contains("stand-in."))
        #expect(!server.errorOutput.contains("was not exchanged"))
    }

    /// Apple answers too late: the worker is free again after 3 s, and others were never behind it.
    @Test func whoeverWaitsForAppleKeepsNobodyElse() throws {
        let silent = try LocalHTTPServer { _ in .silence }
        let server = try installation.readyServer(
            setting: client.merging(["MERGANSER_APPLE_TOKEN_URL": "\(silent.url)/token"]) { $1 })
        defer { withExtendedLifetime((front, provider, server)) {} }
        let waiting = try HTTPConnection(port: try #require(UInt16(front.url.split(separator: ":").last ?? "")))
        let token = try installation.tool(
            "dev", "token", "--provider", "apple", "--subject", "ada", "--nonce", "n", "--json")
        let body: JSONValue = [
            "identity_token": try #require(try token.json()["identity_token"]), "raw_nonce": "n",
            "authorization_code": "c",
        ]
        let bytes = body.json()
        try waiting.send(
            Array(
                """
                POST /api/v1/auth/apple/session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                Content-Length: \(bytes.count)\r\n\r\n
                """.utf8) + bytes)
        #expect(silent.waitForRequests(1))
        #expect(try ask("GET", "\(front.url)/api/v1/me").status == 401)
        #expect(!waiting.hasInput(within: .zero), "it waits for Apple still")
        #expect(try waiting.receiveAnswer().status == 200)
        #expect(try server.logged("Apple's code was not exchanged"))
    }

    /// By whoever comes next.
    @Test func aRevocationSurvivesTheDeathOfItsDispatcher() throws {
        let isAnswering = Monitor(false)
        let receiver = try LocalHTTPServer { _ in isAnswering.withLock { $0 } ? .response() : .silence }
        let variables = client.merging(["MERGANSER_APPLE_REVOCATION_URL": "\(receiver.url)/revoke"]) { $1 }
        let db = try installation.database.connect()
        let handle = [UInt8](repeating: 7, count: 16)
        let key = ServerKey(current: [UInt8](repeating: 0xC4, count: 32))
        try db.execute(
            """
            INSERT INTO apple_revocations (client_id, token_handle, token, next_attempt_at)
            VALUES ('com.example.app', ?, ?, UTC_TIMESTAMP(3))
            """, handle, key.seal(Array("refresh".utf8), for: SealedAppleGrant.row(handle)))
        let dispatcher = try ChildProcess(
            Repository.program("merganserctl"), ["dispatch"],
            environment: installation.environment.merging(variables) { $1 })
        #expect(receiver.waitForRequests(1))
        dispatcher.kill()
        _ = try dispatcher.waitForExit()
        isAnswering.change { $0 = true }
        #expect(try installation.tool(["dispatch", "--once"], setting: variables).exit == .status(0))
        #expect(receiver.requests.count == 1, "the lease stands")
        // A minute later.
        try db.execute("UPDATE apple_revocations SET next_attempt_at = UTC_TIMESTAMP(3)")
        let outcome = try installation.tool(["dispatch", "--once", "--json"], setting: variables)
        #expect(try outcome.json()["apple_revocation_attempts"]?["delivered"] == 1)
        #expect(receiver.requests.count == 2)
        #expect(try db.first("SELECT COUNT(*) FROM apple_revocations") { row in try row.read(Int.self) } == 0)
    }
}
