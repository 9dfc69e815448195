import Fetch
import Foundation
import TestSupport
import Testing

/// nginx's part in `/v1` (analytics §2.1, §2.3, §2.6, §2.7, §11.2).
@Suite struct NginxAnalyticsTests {
    // MARK: Limits, with production's numbers

    @Test(arguments: [
        ("POST", "/v1/ingest"),
        ("POST", "/v1/ingest/attachment"),
        ("PUT", "/v1/ingest/attachment/018f3f1c-0000-7000-8000-000000000000"),
        ("POST", "/v1/feedback"),
        ("POST", "/v1/questionnaires/dismiss"),
        ("GET", "/v1/questionnaires/nps-2026"),
        ("POST", "/v1/questionnaires/nps-2026/responses"),
        ("GET", "/v1/events?level=error"),
        ("GET", "/v1/events/count"),
        ("GET", "/v1/attachments"),
    ])
    func aKeyIsLimited(method: String, path: String) throws {
        let front = try Front(.production)
        defer { withExtendedLifetime(front) {} }
        let connection = try front.connect()
        let refusal = try expectLimit(burst: 100, rate: 10) {
            try connection.ask(method, path, headers: [("Authorization", "Bearer owl_client_a")])
        }
        expectRateLimit(refusal)
        #expect(try connection.ask(method, path, headers: [("Authorization", "Bearer owl_client_b")]).status == 503)
        #expect(try connection.ask(method, path).status == 503, "no key, no limit of its own")
    }

    @Test(arguments: [
        ("POST", "/v1/identity/claim"),
        ("POST", "/v1/identity/properties"),
        ("POST", "/v1/identity/attribution/apple-search-ads"),
        ("POST", "/v1/import"),
        ("GET", "/v1/events/018f3f1c-0000-7000-8000-000000000000"),
        ("GET", "/v1/feedback"),
        ("GET", "/v1/attachments/018f3f1c-0000-7000-8000-000000000000"),
        ("GET", "/v1/app-users"),
    ])
    func otherRoutesKnowTheLimitOfTheAddressOnly(method: String, path: String) throws {
        let front = try Front(.production)
        defer { withExtendedLifetime(front) {} }
        let connection = try front.connect()
        let refusal = try expectLimit(burst: 200, rate: 50) {
            try connection.ask(method, path, headers: [("Authorization", "Bearer owl_client_a")])
        }
        expectRateLimit(refusal)
        #expect(try connection.ask("GET", "/api/v1/me").status == 503, "the other surface goes on")
    }

    @Test func newKeysAreNoWayRoundTheLimitOfTheAddress() throws {
        let front = try Front(.production)
        defer { withExtendedLifetime(front) {} }
        let connection = try front.connect()
        var keys = 0
        let refusal = try expectLimit(burst: 200, rate: 50) {
            keys += 1
            return try connection.ask("POST", "/v1/ingest", headers: [("Authorization", "Bearer owl_client_\(keys)")])
        }
        expectRateLimit(refusal)
    }

    /// Only two words of the header count, so further words do not make another key. HEAD counts like GET.
    @Test func aKeyIsOneKeyHoweverItAsks() throws {
        let front = try Front(.production) {
            $0.replacing(/rate=\d+r\/s/, with: "rate=1r/m").replacing("api_keys burst=100", with: "api_keys burst=3")
        }
        defer { withExtendedLifetime(front) {} }
        let connection = try front.connect()
        let requests = [("GET", ""), ("HEAD", ""), ("GET", " x"), ("GET", " y z"), ("GET", " z"), ("HEAD", " x")]
        let statuses = try requests.map { method, more in
            try connection.ask(method, "/v1/events", headers: [("Authorization", "Bearer owl_agent_a\(more)")]).status
        }
        #expect(statuses == [503, 503, 503, 503, 429, 429])
    }

    @Test func connectionsAreLimited() throws {
        let front = try Front(.production)
        defer { withExtendedLifetime(front) {} }
        let open = try (0..<100).map { _ in try holdRequest("POST", "/v1/ingest", at: front) }
        expectRateLimit(try front.connect().ask("POST", "/v1/ingest"))
        for connection in open {
            try connection.send(Array("x".utf8))
            #expect(try connection.receiveAnswer().status == 503)
        }
        #expect(try front.connect().ask("POST", "/v1/ingest").status == 503)
    }

    @Test func uploadsAreLimitedInNumberBesides() throws {
        let front = try Front(.production)
        let echo = try Echo(socket: front.run.file("merganser.sock"), threads: 10)
        defer { withExtendedLifetime((front, echo)) {} }
        let open = try (0..<8).map { _ in try holdRequest("PUT", upload, at: front) }
        expectRateLimit(try front.connect().ask("PUT", upload))
        #expect(try front.connect().ask("POST", "/v1/ingest").status == 200)
        for connection in open {
            try connection.send(Array("x".utf8))
            #expect(try connection.receiveAnswer().status == 200)
        }
    }

    // MARK: Uploads

    @Test func anUploadGoesOnAsItComes() throws {
        let front = try Front(.production)
        defer { withExtendedLifetime(front) {} }
        let responder = try Listener(front.run.file("merganser.sock"))
        let client = try front.connect()
        try client.send(
            Array("PUT \(upload) HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nhalf of it".utf8))
        #expect(try responder.receive(until: "half of it"))
    }

    /// The location of uploads has another path.
    @Test(arguments: [Front.Configuration.loopback, .production])
    func theResponderSeesThePathOfAnUpload(_ configuration: Front.Configuration) throws {
        let front = try Front(configuration)
        let echo = try Echo(socket: front.run.file("merganser.sock"))
        defer { withExtendedLifetime((front, echo)) {} }
        for (sent, seen) in [
            ("x", "x"), ("x/y/", "x/y/"), ("%3Fa%3Db%20%25%C3%BC+%23", "?a=b %ü+#"), ("a//./b/../c", "a//c"),
            ("$uri", "$uri"),
        ] {
            let answer = try front.connect().ask("PUT", "/v1/ingest/attachment/\(sent)?q=%20&r", body: [1, 2])
            #expect(answer.header("x-path") == "/v1/ingest/attachment/\(seen)")
            #expect(
                answer.header("x-query") == "q=%20&r" && answer.header("x-method") == "PUT" && answer.body == [1, 2])
        }
        for method in ["GET", "PUT"] {
            #expect(try front.connect().ask(method, "/-/upload", body: [1]).status == 404)
        }
    }

    /// The only worker has finished its answer, although the client has read nothing of it yet.
    @Test func aLargeAnswerThatIsReadSlowlyHoldsNoWorker() throws {
        let front = try Front()
        let echo = try Echo(socket: front.run.file("merganser.sock"), threads: 1)
        defer { withExtendedLifetime((front, echo)) {} }
        let slow = try front.connect()
        try slow.send(head("GET", "/v1/large/24000000", []))
        #expect(slow.hasInput(within: .seconds(20)))
        #expect(try front.connect().ask("GET", "/v1/events").status == 200)
        #expect(try slow.receiveAnswer().body.count == 24_000_000)
    }

    @Test func anUploadIsNeverWrittenToDisk() throws {
        let front = try Front()
        let echo = try Echo(socket: front.run.file("merganser.sock"))
        defer { withExtendedLifetime((front, echo)) {} }
        // Without this folder a body that does not fit into memory is a failure.
        try FileManager.default.removeItem(atPath: front.run.file("nginx/body"))
        let size = 8 << 20
        let uploaded = try front.connect().ask("PUT", upload, body: Array(repeating: 0, count: size))
        #expect(uploaded.status == 200)
        #expect(uploaded.body.count == size)

        let ingested = try front.connect().ask("POST", "/v1/ingest", body: Array(repeating: 0, count: 1 << 20))
        #expect(ingested.status == 200, "nor is a body that the responder takes")
        let failed = try front.connect().ask("POST", "/v1/ingest", body: Array(repeating: 0, count: 2 << 20))
        #expect(failed.status == 500)
        #expect(
            String(decoding: failed.body, as: UTF8.self)
                == #"{"statusCode":500,"error":"Internal Server Error","message":"Internal Server Error"}"#)
    }

    @Test(arguments: [Front.Configuration.loopback, .production])
    func onlyUploadsMayBeLarge(_ configuration: Front.Configuration) throws {
        let front = try Front(configuration)
        let largest = 262_144_000
        do {
            let echo = try Echo(socket: front.run.file("merganser.sock"))
            defer { withExtendedLifetime(echo) {} }
            _ = try holdRequest("PUT", upload, length: largest, at: front)
        }
        // With nobody there to ask, nginx judges by itself.
        for (method, path, length) in [
            ("PUT", upload, largest + 1), ("POST", "/v1/ingest/attachment", 4_194_305),
            ("POST", "/v1/import", 4_194_305), ("POST", upload, 4_194_305), ("GET", upload, 4_194_305),
            ("DELETE", upload, 4_194_305), ("PUT", "/v1/ingest/attachment/", 4_194_305),
        ] {
            let connection = try front.connect()
            try connection.send(head(method, path, ["Content-Length: \(length)"]))
            expect(
                try connection.receiveAnswer(), 413,
                #"{"statusCode":413,"error":"Payload Too Large","message":"Request body is too large"}"#)
        }
    }

    // MARK: Country

    @Test(arguments: [Front.Configuration.loopback, .production])
    func theCountryComesFromTrustedProxies(_ configuration: Front.Configuration) throws {
        let front = try Front(configuration)
        let echo = try Echo(socket: front.run.file("merganser.sock"))
        defer { withExtendedLifetime((front, echo)) {} }
        let forwarded = ("X-Forwarded-For", "198.51.100.7")
        let answer = try front.get(
            "/v1/events", headers: [("CF-IPCountry", "DE"), ("CF-IPCountry", "FR"), forwarded])
        // Since 1.23, nginx joins what is repeated; the server takes that for no country.
        let joins = try !Nginx.version().lexicographicallyPrecedes([1, 23])
        #expect(answer.header("x-echo-cf-ipcountry") == (joins ? "DE, FR" : "DE"))
        #expect(answer.headers.filter { $0.name == "x-echo-cf-ipcountry" }.count == 1)
        #expect(answer.header("x-remote") == (configuration == .production ? "198.51.100.7" : "127.0.0.1"))
        #expect(try front.get("/v1/events").header("x-echo-cf-ipcountry") == nil)
    }

    @Test(arguments: [Front.Configuration.loopback, .production])
    func nobodyElseIsBelieved(_ configuration: Front.Configuration) throws {
        let front = try Front(configuration) { $0.replacingOccurrences(of: "127.0.0.0/8 1;", with: "192.0.2.0/24 1;") }
        let echo = try Echo(socket: front.run.file("merganser.sock"))
        defer { withExtendedLifetime(echo) {} }
        // Who the proxies name as the client is not the one who speaks.
        let answer = try front.get("/v1/events", headers: [("CF-IPCountry", "DE"), ("X-Forwarded-For", "192.0.2.1")])
        #expect(answer.status == 200)
        #expect(answer.header("x-echo-cf-ipcountry") == nil)
    }

    // MARK: Errors of nginx's own

    @Test(arguments: ["/v1", "//v1", "//v1/ingest", "/v1//ingest"])
    func pathsOfNothingHaveTheShapeAndTheLimit(path: String) throws {
        let front = try Front(.production)
        defer { withExtendedLifetime(front) {} }
        let connection = try front.connect()
        let first = try connection.ask("POST", path)
        expect(first, 503, #"{"error":"Service temporarily unavailable"}"#)
        expectRateLimit(try expectLimit(burst: 199, rate: 50) { try connection.ask("POST", path) })
    }

    @Test(arguments: ["/v1", "/v1/", "/v1/ingest/", "/v1/ingest/attachment", "/v1/ingest/attachment/"])
    func pathsAreTheRespondersBusiness(path: String) throws {
        #expect(try Front().get(path).status == 503, "no redirect")
    }

    @Test(arguments: [
        ("GET /v1/events", [], 400, "Bad Request"),
        ("GET http://localhost/v1/events", ["Host: localhost", "Content-Length: x"], 400, "Bad Request"),
        ("GET /v1/events", ["Host: localhost", "Cookie: LONG"], 400, "Bad Request"),
        ("GET /v1/LONG", ["Host: localhost"], 414, "URI Too Long"),
        ("POST /v1/ingest", ["Host: localhost", "Transfer-Encoding: gzip"], 501, "Not Implemented"),
    ])
    func whatIsNoRequestIsAnsweredInTheShapeOfThePath(
        target: String, fields: [String], status: Int, reason: String
    ) throws {
        let front = try Front()
        defer { withExtendedLifetime(front) {} }
        let connection = try front.connect()
        let request = (["\(target) HTTP/1.1"] + fields + ["", ""]).joined(separator: "\r\n")
        try connection.send(Array(request.replacing("LONG", with: String(repeating: "x", count: 20_000)).utf8))
        expect(
            try connection.receiveAnswer(), status,
            #"{"statusCode":\#(status),"error":"\#(reason)","message":"Invalid request"}"#)
    }

    @Test func aMethodThatNginxRefusesHasTheShapeOfThePath() throws {
        let front = try Front()
        defer { withExtendedLifetime(front) {} }
        let answer = try front.connect().ask("TRACE", "/v1/ingest")
        expect(answer, 405, #"{"statusCode":405,"error":"Method Not Allowed","message":"Method TRACE not allowed"}"#)
        #expect(answer.header("allow")?.contains("POST") == true)
    }

    @Test func aResponderThatDoesNotAnswerIsUnavailable() throws {
        let front = try Front {
            $0.replacing(/fastcgi_read_timeout \d+s/, with: "fastcgi_read_timeout 1s")
        }
        let responder = try Listener(front.run.file("merganser.sock"))
        defer { withExtendedLifetime((front, responder)) {} }
        let answer = try front.connect().ask("POST", "/v1/identity/claim")
        expect(answer, 504, #"{"error":"Service temporarily unavailable"}"#)
        #expect(answer.header("retry-after") == "1")
    }

    // MARK: -

    private let upload = "/v1/ingest/attachment/018f3f1c-0000-7000-8000-000000000000"

    private func head(_ method: String, _ path: String, _ fields: [String]) -> [UInt8] {
        Array((["\(method) \(path) HTTP/1.1", "Host: localhost"] + fields + ["", ""]).joined(separator: "\r\n").utf8)
    }

    /// A request that nginx has let through, and whose body it waits for.
    private func holdRequest(
        _ method: String, _ path: String, length: Int = 1, at front: Front
    ) throws -> HTTPConnection {
        let connection = try front.connect()
        try connection.send(head(method, path, ["Content-Length: \(length)", "Expect: 100-continue"]))
        #expect(try connection.receiveAnswer().status == 100)
        return connection
    }

    /// Sends requests until one is refused: after `burst` and one more at the earliest, and no later than the rate
    /// allows.
    private func expectLimit(
        burst: Int, rate: Double, sourceLocation: SourceLocation = #_sourceLocation,
        _ ask: () throws -> HTTPConnection.Answer
    ) throws -> HTTPConnection.Answer {
        let start = ContinuousClock.now
        var passed = 0
        var answer = try ask()
        while answer.status == 503 {
            passed += 1
            answer = try ask()
        }
        let refill = (ContinuousClock.now - start) / .seconds(1) * rate
        #expect((burst + 1...burst + 2 + Int(refill)).contains(passed), sourceLocation: sourceLocation)
        return answer
    }

    private func expectRateLimit(_ answer: HTTPConnection.Answer, sourceLocation: SourceLocation = #_sourceLocation) {
        expect(answer, 429, #"{"error":"Rate limit exceeded"}"#, sourceLocation: sourceLocation)
        #expect(answer.header("retry-after") == "1", sourceLocation: sourceLocation)
    }

    private func expect(
        _ answer: HTTPConnection.Answer, _ status: Int, _ body: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(answer.status == status, sourceLocation: sourceLocation)
        #expect(String(decoding: answer.body, as: UTF8.self) == body, sourceLocation: sourceLocation)
        #expect(answer.header("content-type") == "application/json; charset=utf-8", sourceLocation: sourceLocation)
    }
}

extension Listener {
    /// Whether the bytes of the next connection contain this text.
    fileprivate func receive(until text: String) throws -> Bool {
        var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&wait, 1, 20_000) == 1 else { throw TestSupportError("nobody connected within 20 s") }
        let connection = FileHandle(fileDescriptor: accept(descriptor, nil, nil), closeOnDealloc: true)
        var received = Data()
        while received.range(of: Data(text.utf8)) == nil {
            let part = connection.availableData
            if part.isEmpty { return false }
            received += part
        }
        return true
    }
}
