import Foundation
import JSON
import TestSupport
import Testing

/// Requests to nginx and the server together.
@Suite struct NginxServerTests {
    private let front: Front
    private let installation: Installation
    private let server: ChildProcess
    /// The key of a client that may write events.
    private let key: String

    init() throws {
        front = try Front()
        installation = try Installation(["MERGANSER_SOCKET": front.run.file("merganser.sock")])
        try installation.directory.link("fastcgi.sock", to: front.run.file("merganser.sock"))
        let (_, project) = try installation.project()
        let app = try installation.created(
            "app", "create", "--project", project, "--platform", "web", "--name", "Notes")
        let key = try installation.created(
            "api-key", "create", "--type", "client", "--app", try #require(app["id"]?.string))
        self.key = try #require(key["secret"]?.string)
        server = try installation.readyServer()
    }

    private var authorization: (String, String) { ("Authorization", "Bearer \(key)") }

    private func text(_ answer: HTTPConnection.Answer) -> String { String(decoding: answer.body, as: UTF8.self) }

    // MARK: HEAD

    /// All requests use one kept connection. If a body were sent, it would be read as the next answer.
    @Test func headIsAnsweredAsGetWithoutABody() throws {
        let (pak, _) = try installation.bootstrap("00000000-0000-0000-0000-000000000001")
        let table = try String(
            contentsOfFile: Repository.root + "/Tests/APITests/Golden/routes.txt", encoding: .utf8)
        let paths = table.matches(of: /(?m)^GET +(\S+)/).map {
            $0.1.replacing("{provider}", with: "apple").replacing(/\{[a-z_]+\}/, with: "x")
        }.map(String.init)
        #expect(paths.count > 30)
        let connection = try front.connect()
        for path in paths + ["/v1/nothing", "/nothing", "/healthz", "/metrics", "/dev/callback"] {
            for headers in [[], [authorization], [("Authorization", "Bearer \(pak)")]] {
                // HEAD first: it changes nothing that GET shows.
                let head = try connection.ask("HEAD", path, headers: headers)
                let get = try connection.ask("GET", path, headers: headers)
                #expect(head.status == get.status, "\(path)")
                // An export is read only for GET, and so nobody knows its length.
                let isUnread = path == "/api/v1/me/export" && get.status == 200
                let missing = isUnread ? ["set-cookie", "content-length"] : ["set-cookie"]
                #expect(head.headers.map(\.name) == get.headers.map(\.name).filter { !missing.contains($0) }, "\(path)")
                if !isUnread && !["/metrics", "/v1/nothing"].contains(path) {
                    #expect(head.header("content-length") == get.header("content-length"), "\(path)")
                }
            }
        }
        let refused = try connection.ask("HEAD", "/api/v1/devices")
        #expect(refused.status == 405 && refused.header("allow") == "POST")
        #expect(try connection.ask("DELETE", "/v1/events").header("allow") == "GET, HEAD")
        // nginx closes after a head, which takes no worker by surprise.
        let metrics = String(decoding: try installation.ask("GET", "/metrics", at: "control.sock").body, as: UTF8.self)
        #expect(metrics.contains(#"merganser_requests_total{route="/api/v1/me",method="HEAD",status="200"} 1"#))
        #expect(try server.log.allSatisfy { $0["level"]?.string != "warning" && $0["level"]?.string != "error" })
    }

    // MARK: Doubled slashes

    /// As it is when it is not encoded (PipelineTests).
    @Test func anEncodedSlashMakesADoubledOne() throws {
        let connection = try front.connect()
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
            let answer = try connection.ask(method, "/v1/%2Fingest", headers: [authorization])
            #expect(answer.status == 404)
            #expect(
                text(answer)
                    == #"{"statusCode":404,"error":"Not Found","message":"Route \#(method):/v1//ingest not found"}"#)
        }
        let elsewhere = try connection.ask("GET", "/api/v1/%2fme")
        #expect(elsewhere.status == 404 && text(elsewhere) == #"{"error":"not_found"}"#)
    }

    // MARK: Bodies that are too large

    /// A body that is announced and never sent.
    struct Announced: CustomTestStringConvertible {
        let method: String
        let path: String
        var length = 99_999_999
        var headers: [(String, String)] = []
        var isAuthorized = false
        let status: Int
        let body: String
        var allow: String?

        var testDescription: String { "\(method) \(path) \(length) \(headers) \(isAuthorized)" }

        static let all = [
            // Path and method come first.
            Announced(method: "POST", path: "/api/v1/nothing", status: 404, body: #"{"error":"not_found"}"#),
            Announced(
                method: "POST", path: "/api/v1/nothing", length: 65_537, status: 404, body: #"{"error":"not_found"}"#),
            Announced(
                method: "PUT", path: "/api/v1/me", status: 405, body: #"{"error":"method_not_allowed"}"#,
                allow: "DELETE, GET, HEAD, PATCH"),
            Announced(
                method: "POST", path: "/v1/nothing", status: 404,
                body: #"{"statusCode":404,"error":"Not Found","message":"Route POST:/v1/nothing not found"}"#),
            Announced(
                method: "POST", path: "/v1/events", isAuthorized: true, status: 405,
                body: #"{"statusCode":405,"error":"Method Not Allowed","message":"Method POST not allowed"}"#,
                allow: "GET, HEAD"),
            Announced(
                method: "POST", path: "/v1/ingest/attachment/x", length: 999_999_999, status: 405,
                body: #"{"statusCode":405,"error":"Method Not Allowed","message":"Method POST not allowed"}"#,
                allow: "PUT"),
            // Then, under /api, the size.
            Announced(method: "POST", path: "/api/v1/devices", status: 413, body: #"{"error":"payload_too_large"}"#),
            Announced(
                method: "PATCH", path: "/api/v1/me", length: 65_537, status: 413,
                body: #"{"error":"payload_too_large"}"#),
            Announced(method: "GET", path: "/api/v1/me", status: 413, body: #"{"error":"payload_too_large"}"#),
            // Under /v1 the key, then its permissions, then the size.
            Announced(method: "POST", path: "/v1/ingest", status: 401, body: #"{"error":"Missing authorization"}"#),
            Announced(method: "GET", path: "/v1/events", status: 401, body: #"{"error":"Missing authorization"}"#),
            Announced(
                method: "DELETE", path: "/v1/attachments/x", isAuthorized: true, status: 413, body: tooLarge),
            Announced(
                method: "GET", path: "/v1/events", isAuthorized: true, status: 403,
                body: #"{"error":"Missing permission: events:read"}"#),
            Announced(method: "POST", path: "/v1/ingest", isAuthorized: true, status: 413, body: tooLarge),
            Announced(
                method: "POST", path: "/v1/ingest", length: 4_194_305, isAuthorized: true, status: 413, body: tooLarge),
            Announced(
                method: "POST", path: "/v1/ingest", headers: [("Content-Encoding", "gzip")], isAuthorized: true,
                status: 413, body: #"{"error":"Compressed payload too large"}"#),
            Announced(
                method: "POST", path: "/v1/ingest", headers: [("Content-Encoding", "br")], isAuthorized: true,
                status: 415,
                body: #"{"statusCode":415,"error":"Unsupported Media Type","message":"Unsupported Content-Encoding"}"#),
            Announced(
                method: "PUT", path: "/v1/ingest/attachment/x", length: 999_999_999, status: 401,
                body: #"{"error":"Missing authorization"}"#),
        ]

        private static let tooLarge =
            #"{"statusCode":413,"error":"Payload Too Large","message":"Request body is too large"}"#
    }

    /// Neither nginx nor a worker waits for the body.
    @Test(arguments: Announced.all)
    func whatIsTooLargeIsJudgedUnread(_ announced: Announced) throws {
        let headers = announced.headers + (announced.isAuthorized ? [authorization] : [])
        let head =
            "\(announced.method) \(announced.path) HTTP/1.1\r\nHost: localhost\r\n"
            + headers.map { "\($0.0): \($0.1)\r\n" }.joined()
        let waiting = try (0..<8).map { _ in
            let connection = try front.connect()
            try connection.send(Array("\(head)Content-Length: \(announced.length)\r\n\r\nx".utf8))
            return connection
        }
        for connection in waiting {
            let answer = try connection.receiveAnswer()
            #expect(answer.status == announced.status && text(answer) == announced.body)
            #expect(answer.header("allow") == announced.allow)
            #expect(answer.header("x-request-id")?.count == 32)
        }
        #expect(try server.log.allSatisfy { $0["level"]?.string != "warning" && $0["level"]?.string != "error" })
        #expect(try front.connect().ask("GET", "/api/v1/me").status == 401, "the workers are free")
    }

    /// The size is known only while the body is read.
    @Test(arguments: [
        ("POST", "/api/v1/nothing", 404, #"{"error":"not_found"}"#),
        ("POST", "/api/v1/devices", 413, #"{"error":"payload_too_large"}"#),
        (
            "POST", "/v1/nothing", 404,
            #"{"statusCode":404,"error":"Not Found","message":"Route POST:/v1/nothing not found"}"#
        ),
        (
            "POST", "/v1/ingest", 413,
            #"{"statusCode":413,"error":"Payload Too Large","message":"Request body is too large"}"#
        ),
        (
            "DELETE", "/v1/attachments/x", 413,
            #"{"statusCode":413,"error":"Payload Too Large","message":"Request body is too large"}"#
        ),
    ])
    func aBodyWithoutAnAnnouncementIsJudgedToo(method: String, path: String, status: Int, body: String) throws {
        let connection = try front.connect()
        let part = [UInt8](repeating: UInt8(ascii: "x"), count: 5 << 20)
        try connection.send(
            Array(
                """
                \(method) \(path) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(key)\r\n\
                Transfer-Encoding: chunked\r\n\r\n\(String(part.count, radix: 16))\r\n
                """.utf8))
        try? connection.send(part)
        let answer = try connection.receiveAnswer()
        #expect(answer.status == status && text(answer) == body)
    }

    /// The client sends the whole body, and still gets the answer.
    @Test func whoSendsItAllTheSameIsAnswered() throws {
        let part = [UInt8](repeating: UInt8(ascii: "x"), count: 20 << 20)
        for (path, status) in [("/api/v1/nothing", 404), ("/api/v1/devices", 413), ("/v1/ingest", 413)] {
            let connection = try front.connect()
            try connection.send(
                Array(
                    """
                    POST \(path) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(key)\r\n\
                    Content-Length: \(part.count)\r\n\r\n
                    """.utf8))
            try? connection.send(part)
            #expect(try connection.receiveAnswer().status == status, "\(path)")
        }
    }
}
