import Fetch
import Foundation
import TestSupport
import Testing

/// Every error that nginx makes itself has the body of its path's surface and the request's id (accounts §0.1, §0.2;
/// analytics §2.3).
///
/// 408 and 499 are not among them: nginx closes the connection without an answer. It does the same for a header that is
/// too long over HTTP/2. 495 and 496 are about client certificates, which no configuration requires.
@Suite struct NginxErrorTests {
    /// PATH is a path of the surface. LONG is more than a header may have.
    struct Refused: CustomTestStringConvertible {
        let request: String
        let status: Int
        let reason: String

        init(_ lines: [String], _ status: Int, _ reason: String, body: String = "") {
            request = (lines + ["", body]).joined(separator: "\r\n")
            (self.status, self.reason) = (status, reason)
        }

        var testDescription: String { request.debugDescription }

        static let all = [
            // The request line
            Refused(["GET PATH HTTP/9.9", host, ""], 505, "HTTP Version Not Supported"),
            Refused(["GET PATH HTTP/2.0", host, ""], 505, "HTTP Version Not Supported"),
            Refused(["POST http://localhostPATH HTTP/3", host, ""], 505, "HTTP Version Not Supported"),
            Refused(["GET PATH HTTX/1.1", host, ""], 400, "Bad Request"),
            Refused(["get PATH HTTP/1.1", host, ""], 400, "Bad Request"),
            Refused(["GET PATH?LONG HTTP/1.1", host, ""], 414, "URI Too Long"),
            Refused(["GET PATH/%zz HTTP/1.1", host, ""], 400, "Bad Request"),
            Refused(["GET PATH/%00 HTTP/1.1", host, ""], 400, "Bad Request"),
            Refused(["GET PATH/../../../../../.. HTTP/1.1", host, ""], 400, "Bad Request"),
            Refused(["TRACE PATH HTTP/1.1", host, ""], 405, "Method Not Allowed"),
            Refused(["CONNECT PATH HTTP/1.1", host, ""], 405, "Method Not Allowed"),
            // Header fields
            Refused(["GET PATH HTTP/1.1", ""], 400, "Bad Request"),
            Refused(["GET PATH HTTP/1.1", "Host:", ""], 400, "Bad Request"),
            Refused(["GET PATH HTTP/1.1", "Host: a/b", ""], 400, "Bad Request"),
            Refused(["GET PATH HTTP/1.1", host, host, ""], 400, "Bad Request"),
            Refused(["GET PATH HTTP/1.1", host, "a b: c", ""], 400, "Bad Request"),
            Refused(["GET PATH HTTP/1.1", host, "a: b\0", ""], 400, "Bad Request"),
            Refused(["GET PATH HTTP/1.1", host, "a: LONG", ""], 400, "Bad Request"),
            Refused(["GET PATH HTTP/1.1", "Host: id.example.net", ""], 421, "Misdirected Request"),
            Refused(["GET http://id.example.netPATH HTTP/1.1", host, ""], 421, "Misdirected Request"),
            Refused(
                ["POST PATH HTTP/1.1", "Host: id.example.net", "Content-Length: 999999999", ""], 421,
                "Misdirected Request"),
            Refused(["GET PATH HTTP/1.0", ""], 421, "Misdirected Request"),
            // Lengths and codings
            Refused(["POST PATH HTTP/1.1", host, "Content-Length: x", ""], 400, "Bad Request"),
            Refused(["POST PATH HTTP/1.1", host, "Content-Length: -1", ""], 400, "Bad Request"),
            Refused(["POST PATH HTTP/1.1", host, "Content-Length: \(Int.max)0", ""], 400, "Bad Request"),
            Refused(["POST PATH HTTP/1.1", host, "Content-Length: 1", "Content-Length: 1", ""], 400, "Bad Request"),
            Refused(["POST PATH HTTP/1.1", host, "Content-Length: 1", chunked, ""], 400, "Bad Request"),
            Refused(["POST PATH HTTP/1.0", host, chunked, ""], 400, "Bad Request"),
            Refused(["POST PATH HTTP/1.1", host, chunked, ""], 400, "Bad Request", body: "x\r\n"),
            Refused(["POST PATH HTTP/1.1", host, "Transfer-Encoding: gzip", ""], 501, "Not Implemented"),
            Refused(["POST PATH HTTP/1.1", host, "Content-Length: 99999999", ""], 413, "Payload Too Large"),
        ]

        private static let host = "Host: localhost"
        private static let chunked = "Transfer-Encoding: chunked"
    }

    @Test(arguments: Refused.all) func whatNginxRefusesHasTheShapeOfThePath(_ refused: Refused) throws {
        let front = try Front()
        defer { withExtendedLifetime(front) {} }
        for path in ["/api/v1/me", "/oauth/token", "/api/v1/oauth/userinfo", "/v1/events", "/v1", "//v1/ingest"]
        // What is below userinfo is not.
        where !(path.hasSuffix("userinfo") && refused.request.contains("PATH/")) {
            let connection = try front.connect()
            let request = refused.request.replacing("PATH", with: path)
                .replacing("LONG", with: String(repeating: "x", count: 20_000))
            try connection.send(Array(request.utf8))
            let answer = try connection.receiveAnswer()
            #expect(answer.status == refused.status, "\(path)")
            try expectShape(of: path, answer, reason: refused.reason)
        }
    }

    /// Without a path, the body has the shape of `/api`.
    @Test(arguments: [
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\0\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0",
        "OPTIONS * HTTP/1.1\r\n\r\n",
        "GET\r\n\r\n", "CONNECT localhost:443 HTTP/1.1\r\nHost: localhost\r\n\r\n", "GET ../v1 HTTP/1.1\r\n\r\n",
    ])
    func whatHasNoPathIsAnsweredToo(request: String) throws {
        let front = try Front()
        defer { withExtendedLifetime(front) {} }
        let connection = try front.connect()
        try connection.send(Array(request.utf8))
        let answer = try connection.receiveAnswer()
        #expect(answer.status == 400)
        try expectShape(of: "/", answer, reason: "Bad Request")
    }

    /// Files that nginx sends, which includes downloads.
    @Test func conditionsAndRangesOfFilesFailInJSON() throws {
        let front = try Front()
        try front.run.write(#"{"keys":[]}"#, to: "keys/apple.json")
        for (field, status) in [(("Range", "bytes=100-"), 416), (("If-Match", "\"x\""), 412)] {
            let answer = try front.get("/dev/apple/keys", headers: [field])
            #expect(answer.status == status)
            #expect(answer.text == #"{"error":"invalid_request"}"#)
            #expect(answer.header("content-type") == "application/json")
            #expect(answer.header("x-request-id")?.count == 32)
        }
        let changed = try front.post("/dev/apple/keys")
        #expect(changed.status == 405 && changed.text == #"{"error":"method_not_allowed"}"#)
    }

    /// The responder is not asked about oversized requests for the control paths.
    @Test(arguments: ["/healthz", "/readyz", "/metrics", "/-/blue/readyz", "/-/green/healthz"])
    func controlPathsRefuseInJSON(path: String) throws {
        let front = try Front()
        let echo = try Echo(socket: front.run.file("merganser.sock"))
        defer { withExtendedLifetime((front, echo)) {} }
        let away = try front.get(path)
        #expect(away.status == 503 && away.text == #"{"error":"temporarily_unavailable"}"#)
        expectOwnHeaders(away.header)
        let connection = try front.connect()
        try connection.send(Array("POST \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n".utf8))
        let answer = try connection.receiveAnswer()
        #expect(answer.status == 413)
        try expectShape(of: path, answer, reason: "Payload Too Large")
    }

    private func expectShape(
        of path: String, _ answer: HTTPConnection.Answer, reason: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let body = try JSONDecoder().decode(Body.self, from: Data(answer.body))
        let codes = [
            405: "method_not_allowed", 413: "payload_too_large", 421: "misdirected_request",
        ]
        let code = codes[answer.status] ?? "invalid_request"
        let isAnalytics = path.contains("/v1") && !path.hasPrefix("/api")
        if isAnalytics {
            #expect(body.statusCode == answer.status && body.error == reason, sourceLocation: sourceLocation)
            #expect(body.message?.isEmpty == false, sourceLocation: sourceLocation)
        } else {
            #expect(body.error == code && body.statusCode == nil, sourceLocation: sourceLocation)
        }
        let isOAuth = path.contains("oauth")
        #expect(body.requestID == (isOAuth ? answer.header("x-request-id") : nil), sourceLocation: sourceLocation)
        #expect(
            body.errorURI.map { $0.hasSuffix("/oauth/errors#\(code)") } == (isOAuth ? true : nil),
            sourceLocation: sourceLocation)
        expectOwnHeaders(
            answer.header, isAnalytics ? "application/json; charset=utf-8" : "application/json",
            sourceLocation: sourceLocation)
    }

    private struct Body: Decodable {
        var error: String
        var statusCode: Int?
        var message: String?
        var errorURI: String?
        var requestID: String?

        private enum CodingKeys: String, CodingKey {
            case error, statusCode, message
            case errorURI = "error_uri"
            case requestID = "request_id"
        }
    }
}
