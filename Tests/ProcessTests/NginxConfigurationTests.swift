import Fetch
import Foundation
import JSON
import TestSupport
import Testing
import Threads

@Suite struct NginxConfigurationTests {
    @Test(arguments: ["loopback.conf", "production.conf"])
    func nginxAccepts(configuration: String) throws {
        let prefix = try TemporaryDirectory()
        for folder in ["keys", "logs", "nginx", "tls"] { try prefix.makeDirectory(folder) }
        try prefix.link("merganser", to: shippedIncludes)
        try makeCertificate(prefix.file("tls"))
        let text = try shipped(configuration)
            .replacingOccurrences(of: "@RUN@", with: prefix.path)
            .replacingOccurrences(of: "@SOCKETS@", with: prefix.path)
            .replacingOccurrences(of: "@PORT@", with: "8080")
            .replacingOccurrences(of: "/etc/letsencrypt/live/id.example.com", with: prefix.file("tls"))
            .replacingOccurrences(of: "/var/log/nginx", with: prefix.file("logs"))
            .replacingOccurrences(
                of: "http {\n", with: configuration == "production.conf" ? "http {\n\(Nginx.ownFolders)\n" : "http {\n"
            )
            // nginx -t binds: not everybody may bind these, and not every machine has IPv6.
            .replacingOccurrences(of: "listen 443 ", with: "listen 18443 ")
            .replacing(/listen 80\b/, with: "listen 18080")
            .replacingOccurrences(of: "listen [::]:443 ", with: "listen 127.0.0.2:18443 ")
            .replacing(/listen \[::\]:80\b/, with: "listen 127.0.0.2:18080")
        let outcome = try Nginx.check(configuration: prefix.write(text, to: "nginx.conf"), prefix: prefix.path)
        #expect(outcome.exit == .status(0), "\(outcome.errorOutput)")
        // nginx before 1.25.1, such as Debian 12's, knows no other form.
        let warnings = outcome.errorOutput.split(separator: "\n").filter {
            $0.contains("[warn]") && !$0.contains(#""listen ... http2" directive is deprecated"#)
        }
        #expect(warnings == [])
    }

    @Test(arguments: [
        ("/api/v1/me", #"{"error":"temporarily_unavailable"}"#),
        ("/auth/apple/session", #"{"error":"temporarily_unavailable"}"#),
        ("/v1/ingest", #"{"error":"Service temporarily unavailable"}"#),
    ])
    func withoutAResponderTheErrorHasTheShapeOfThePath(path: String, body: String) throws {
        let answer = try Front().get(path)
        #expect(answer.status == 503)
        #expect(answer.text == body)
        #expect(answer.header("retry-after") == "1")
        expectOwnHeaders(answer.header, contentType(path))
    }

    @Test func whoWasAskedAndDidNotAnswerIsABadGateway() throws {
        let front = try Front()
        let listener = try Listener(front.run.file("merganser.sock"))
        let responder = Threads.Thread {
            let connection = accept(listener.descriptor, nil, nil)
            var byte: UInt8 = 0
            recv(connection, &byte, 1, 0)
            close(connection)
        }
        let answer = try front.post("/api/v1/devices")
        responder.join()
        #expect(answer.status == 502)
        #expect(answer.text == #"{"error":"temporarily_unavailable"}"#)
        #expect(answer.header("retry-after") == "1")
        expectOwnHeaders(answer.header)
    }

    @Test(
        arguments: [
            ("/api/v1/devices", 65_536, #"{"error":"payload_too_large"}"#),
            (
                "/v1/ingest", 4_194_304,
                #"{"statusCode":413,"error":"Payload Too Large","message":"Request body is too large"}"#
            ),
        ], [false, true])
    func aBodyPastTheLimitIsRefused(_ limit: (path: String, size: Int, body: String), isChunked: Bool) throws {
        let front = try Front()
        let headers = isChunked ? [("Transfer-Encoding", "chunked"), ("Expect", "")] : [("Expect", "")]
        #expect(try front.post(limit.path, headers: headers, size: limit.size).status == 503)
        let answer = try front.post(limit.path, headers: headers, size: limit.size + 1)
        #expect(answer.status == 413)
        #expect(answer.text == limit.body)
        expectOwnHeaders(answer.header, contentType(limit.path))
    }

    @Test(arguments: [
        ("GET /LONG HTTP/1.1\r\nHost: localhost\r\n\r\n", 414, "invalid_request"),
        ("GET /api/v1/me HTTP/1.1\r\n\r\n", 400, "invalid_request"),
        ("\0", 400, "invalid_request"),
        ("TRACE /api/v1/me HTTP/1.1\r\nHost: localhost\r\n\r\n", 405, "method_not_allowed"),
    ])
    func whatIsNoRequestIsAnsweredInJSON(request: String, status: Int, code: String) throws {
        let front = try Front()
        defer { withExtendedLifetime(front) {} }
        let connection = try front.connect()
        try connection.send(Array(request.replacing("LONG", with: String(repeating: "x", count: 20_000)).utf8))
        let answer = try connection.receiveAnswer()
        #expect(answer.status == status)
        #expect(String(decoding: answer.body, as: UTF8.self) == "{\"error\":\"\(code)\"}")
        expectOwnHeaders(answer.header)
    }

    @Test func theAccessLogIsJSONWithoutSecrets() throws {
        let front = try Front()
        _ = try front.get(
            "/oauth/authorize?code=sesame", headers: [("Authorization", "Bearer sesame"), ("User-Agent", "a \"b\"")])
        try front.stop()
        struct Line: Decodable {
            let method: String
            let path: String
            let status: Int
            let requestID: String
            let userAgent: String
        }
        let line = try Line(json: Array(front.accessLog.utf8))
        #expect(line.method == "GET")
        #expect(line.path == "/oauth/authorize")
        #expect(line.status == 503)
        #expect(line.requestID.count == 32)
        #expect(line.userAgent == "a \"b\"")
        #expect(!front.accessLog.contains("sesame"))
    }

    @Test func theResponderGetsWhatItRoutesOn() throws {
        let front = try Front()
        let echo = try Echo(socket: front.run.file("merganser.sock"))
        defer { withExtendedLifetime(echo) {} }
        let answer = try front.get(
            "/api/v1/%6de/./../%6De?a=%20",
            headers: [("Authorization", "Bearer x"), ("X-Forwarded-For", "192.0.2.1"), ("X-Echo", "1")])
        #expect(answer.status == 200)
        #expect(answer.header("x-method") == "GET")
        #expect(answer.header("x-path") == "/api/v1/me")
        #expect(answer.header("x-query") == "a=%20")
        #expect(answer.header("x-target") == "/api/v1/%6De?a=%20", "as the client wrote it")
        #expect(answer.header("x-remote") == "127.0.0.1")
        #expect(answer.header("x-echo-authorization") == "Bearer x")
        #expect(answer.header("x-echo-x-echo") == "1")
        #expect(answer.header("x-request-id")?.utf8.count == 32)
        // One slash is not two, written or encoded.
        #expect(try front.get("//api/v1/me").header("x-path") == "//api/v1/me")
        #expect(try front.get("/v1/%2Fingest").header("x-path") == "/v1//ingest")

        let chunked = try front.post("/api/v1/me", headers: [("Transfer-Encoding", "chunked")], size: 1000)
        #expect(chunked.header("x-length") == "1000")
    }

    @Test func eitherInstanceAnswersForTheService() throws {
        let front = try Front()
        #expect(try front.get("/readyz").status == 503)
        let green = try Echo(socket: front.run.file("control-green.sock"))
        defer { withExtendedLifetime(green) {} }
        for path in ["/healthz", "/readyz", "/metrics"] {
            #expect(try front.get(path).header("x-path") == path)
            #expect(try front.get("/-/green\(path)").header("x-path") == path)
            #expect(try front.get("/-/blue\(path)").status == 503)
        }
        #expect(try front.get("/-/red/healthz").text == #"{"error":"not_found"}"#)
    }

    @Test func theDevelopmentIssuerShowsKeySetsOnly() throws {
        let front = try Front()
        try front.run.write(#"{"keys":[]}"#, to: "keys/apple.json")
        try front.run.write("private", to: "keys/apple-rs256.pem")
        let answer = try front.get("/dev/apple/keys")
        #expect(answer.text == #"{"keys":[]}"#)
        #expect(answer.header("content-type") == "application/json")
        #expect(answer.header("cache-control") == "public, max-age=300")
        #expect(try front.get("/dev/google/keys").status == 404)
        #expect(try front.get("/dev/apple-rs256.pem").status == 503, "the responder's business, as every other path")
    }

    @Test func theDemoApplicationsCallbackShowsTheCodeAndKeepsNothing() throws {
        let front = try Front()
        let answer = try front.get("/dev/callback?code=sesame&state=s")
        #expect(answer.status == 200)
        #expect(answer.header("content-type") == "text/plain; charset=utf-8")
        #expect(answer.header("x-content-type-options") == "nosniff")
        #expect(answer.header("cache-control") == "no-store")
        #expect(answer.text.contains("curl $MERGANSER_URL/oauth/token -d grant_type=authorization_code -d code=sesame"))
        #expect(try front.get("/dev/callback?error=access_denied").text.contains("error=access_denied"))
        try front.stop()
        #expect(front.accessLog.contains("/dev/callback") && !front.accessLog.contains("sesame"))
    }

    private func contentType(_ path: String) -> String {
        path.hasPrefix("/v1/") ? "application/json; charset=utf-8" : "application/json"
    }
}
