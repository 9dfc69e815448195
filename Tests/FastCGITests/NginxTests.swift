import TestSupport
import Testing

/// The responder behind nginx, with and without kept upstream connections.
@Suite struct NginxTests {
    private let fixture: EchoFixture
    private let nginx: Nginx

    init() throws {
        fixture = try EchoFixture()
        nginx = try Nginx(echoAt: fixture.server.path)
    }

    @Test(arguments: ["", "/single"]) func bodiesOfAllSizesComeBack(_ prefix: String) throws {
        let client = try HTTPConnection(port: nginx.port)
        let bytes = noise(100_000)
        for size in BodyTests.sizes.enumerated().filter({ $0.offset % 4 == 0 }).map(\.element) {
            let body = Array(bytes[..<size])
            let answer = try client.ask("POST", prefix + "/", body: body)
            try #require(answer.status == 200 && answer.body == body, "\(size) bytes")
        }
        #expect(nginx.errorLog == "")
    }

    @Test func routesSeeWhatLocationsSaw() throws {
        let answer = try HTTPConnection(port: nginx.port).ask("GET", "/a%20b/./c/../%C3%BC//d?q=%20")
        #expect(answer.header("x-path") == "/a b/ü/d" && answer.header("x-query") == "q=%20")
        #expect(answer.header("x-remote") == "127.0.0.1" && answer.header("x-request-id")?.count == 32)
    }

    @Test func bothOfTwoAuthorizationsAreSeen() throws {
        let answer = try HTTPConnection(port: nginx.port).ask(
            "GET", "/", headers: [("Authorization", "Bearer a"), ("Authorization", "Bearer b")])
        // nginx 1.23 and later refuse the request themselves.
        let values = answer.headers.filter { $0.name == "x-echo-authorization" }.map(\.value)
        #expect(answer.status == 400 || values == ["Bearer a", "Bearer b"])
    }

    @Test(arguments: ["", "/single"], [0, 5_000, 200_000, 3_000_000])
    func anEarlyAnswerReachesTheClient(_ prefix: String, size: Int) throws {
        let client = try HTTPConnection(port: nginx.port)
        let body = noise(size)
        for round in 0..<10 {
            #expect(try client.ask("POST", prefix + "/unread", body: body).status == 413)
            #expect(try client.ask("POST", "/\(round)", body: [1, 2]).body == [1, 2])
        }
        #expect(nginx.errorLog == "")
    }

    @Test(arguments: ["", "/single"]) func largeAnswersComeWhole(_ prefix: String) throws {
        let client = try HTTPConnection(port: nginx.port)
        for size in [0, 8_192, 100_000, 3_000_000] {
            let answer = try client.ask("GET", "\(prefix)/large/\(size)")
            #expect(answer.body.count == size && answer.header("content-length") == String(size))
        }
    }
}
