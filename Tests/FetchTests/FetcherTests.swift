import Fetch
import Glibc
import TestSupport
import Testing

@Suite struct FetcherTests {
    private func options(_ change: (inout Fetcher.Options) -> Void = { _ in }) -> Fetcher.Options {
        var options = Fetcher.Options()
        options.allowsLoopbackHTTP = true
        (options.connectTimeout, options.timeout) = (.seconds(60), .seconds(60))
        change(&options)
        return options
    }

    private func reason(_ fetch: () throws -> Fetcher.Response) throws -> FetchError.Reason {
        try #require(throws: FetchError.self) { try fetch() }.reason
    }

    // MARK: Requests and answers

    @Test func answerIsHandedOver() throws {
        let server = try LocalHTTPServer { _ in
            .response(
                status: 404,
                headers: [("Cache-Control", "max-age=5"), ("X-A", " 1 \t"), ("x-a", "2"), ("X-Empty", "")],
                body: Array("body".utf8))
        }
        let response = try Fetcher(options()).get(server.url + "/path?a=b")
        #expect(response.status == 404)
        #expect(response.body == Array("body".utf8))
        #expect(response.header("cache-control") == "max-age=5")
        #expect(response.headers.filter { $0.name == "x-a" }.map(\.value) == ["1", "2"])
        #expect(response.header("x-empty") == "")
        #expect(response.header("x-none") == nil)
        let request = try #require(server.requests.first)
        #expect(request.method == "GET")
        #expect(request.path == "/path?a=b")
        #expect(request.header("user-agent") == "merganser")
        #expect(request.header("host") == "127.0.0.1:\(server.port)")
    }

    @Test func bodyAndHeadersAreSent() throws {
        let server = try LocalHTTPServer { .response(body: $0.body) }
        let body = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
        let headers = [("Content-Type", "application/json"), ("X-A", "1")]
        #expect(try Fetcher(options()).post(server.url, headers: headers, body: body).body == body)
        #expect(try Fetcher(options()).post(server.url, body: []).body == [])
        let requests = server.requests
        #expect(requests.map(\.method) == ["POST", "POST"])
        #expect(requests[0].header("content-type") == "application/json")
        #expect(requests[0].header("x-a") == "1")
        #expect(requests[1].header("content-length") == "0")
    }

    @Test func interimAnswersArePassedOver() throws {
        let text = "HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\nHTTP/1.1 200 OK\r\nx-a: 1\r\ncontent-length: 2\r\n\r\nok"
        let server = try LocalHTTPServer { _ in .raw(Array(text.utf8)) }
        let response = try Fetcher(options()).get(server.url)
        #expect(response.status == 200)
        #expect(response.headers.map(\.name) == ["x-a", "content-length"])
        #expect(response.body == Array("ok".utf8))
    }

    /// RFC 9112 §4: a status has three digits. libcurl does not insist.
    @Test(arguments: ["HTTP/2 99999", "HTTP/2 1491 x", "HTTP/2 -5", "HTTP/2 0", "HTTP/1.1 099 x", "HTTP/1.1 1491 x"])
    func anAnswerHasAStatus(line: String) throws {
        for head in [line, "HTTP/1.1 100 Continue\r\n\r\n" + line] {
            let server = try LocalHTTPServer { _ in .raw(Array((head + "\r\n\r\n").utf8)) }
            let error = try #require(throws: FetchError.self) { try Fetcher(options()).get(server.url) }
            #expect(error.reason == .failed)
        }
    }

    @Test(arguments: [301, 302, 303, 307, 308]) func redirectsAreNotFollowed(status: Int) throws {
        let server = try LocalHTTPServer { request in
            request.path == "/" ? .response(status: status, headers: [("location", "/next")]) : .response()
        }
        let response = try Fetcher(options()).get(server.url + "/")
        #expect(response.status == status)
        #expect(response.header("location") == "/next")
        #expect(server.requests.count == 1)
    }

    /// Runs in another process, because all threads share the environment.
    @Test func proxiesOfTheEnvironmentAreNotAsked() async {
        await #expect(processExitsWith: .success) {
            let proxy = try LocalHTTPServer { _ in .response(status: 502) }
            let server = try LocalHTTPServer { _ in .response() }
            for name in ["http_proxy", "https_proxy", "all_proxy", "ALL_PROXY"] { setenv(name, proxy.url, 1) }
            var options = Fetcher.Options()
            options.allowsLoopbackHTTP = true
            #expect(try Fetcher(options).get(server.url).status == 200)
            #expect(proxy.requests.isEmpty)
        }
    }

    // MARK: Limits

    @Test func bodyIsLimited() throws {
        let server = try LocalHTTPServer { _ in .response(body: [UInt8](repeating: 1, count: 1000)) }
        #expect(try Fetcher(options { $0.maximumSize = 1000 }).get(server.url).body.count == 1000)
        #expect(try reason { try Fetcher(options { $0.maximumSize = 999 }).get(server.url) } == .tooLarge)
        #expect(try reason { try Fetcher(options { $0.maximumSize = 0 }).get(server.url) } == .tooLarge)
    }

    @Test func aLargerBodyMayBeCut() throws {
        let body = (0..<1000).map { UInt8(truncatingIfNeeded: $0) }
        let server = try LocalHTTPServer { _ in .response(status: 500, body: body) }
        func get(_ size: Int) throws -> Fetcher.Response {
            try Fetcher(
                options {
                    $0.maximumSize = size
                    $0.cutsBody = true
                }
            ).get(server.url)
        }
        for size in [0, 1, 999, 1000, 1001] {
            let response = try get(size)
            #expect(response.status == 500)
            #expect(response.body == Array(body.prefix(size)))
        }
    }

    @Test func endlessBodyIsCutOff() throws {
        let server = try LocalHTTPServer { _ in .endless }
        #expect(try reason { try Fetcher(options { $0.timeout = .seconds(60) }).get(server.url) } == .tooLarge)
    }

    @Test func headerIsLimited() throws {
        let line = "x-a: " + String(repeating: "x", count: 1000) + "\r\n"
        let head = "HTTP/1.1 200 OK\r\n" + String(repeating: line, count: 100) + "\r\n"
        let server = try LocalHTTPServer { _ in .raw(Array(head.utf8)) }
        #expect(try reason { try Fetcher(options()).get(server.url) } == .tooLarge)
    }

    @Test func silentServerIsGivenUp() throws {
        let server = try LocalHTTPServer { _ in .silence }
        let fetcher = Fetcher(options { $0.timeout = .milliseconds(100) })
        let start = ContinuousClock.now
        #expect(try reason { try fetcher.get(server.url) } == .timeout)
        let time = ContinuousClock.now - start
        #expect(time >= .milliseconds(100))
    }

    @Test func brokenAnswersAreFailures() throws {
        for text in ["", "garbage", "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nshort"] {
            let server = try LocalHTTPServer { _ in .raw(Array(text.utf8)) }
            #expect(try reason { try Fetcher(options()).get(server.url) } == .failed)
        }
    }

    @Test func nobodyAnswering() throws {
        let error = try #require(throws: FetchError.self) { try Fetcher(options()).get("http://127.0.0.1:1/") }
        #expect(error.reason == .failed)
        #expect(error.code == 7)
        #expect(error.description.contains("127.0.0.1"))
    }

    // MARK: Addresses

    @Test(arguments: [
        "", "/path", "example.com", "ftp://127.0.0.1/", "file:///etc/passwd", "gopher://127.0.0.1/",
        "http://example.com/",
        "http://127.0.0.2/", "http://localhost.example.com/", "http://[::2]/", "http://0.0.0.0/",
        "https://user@127.0.0.1/",
        "https://user:password@127.0.0.1/", "https://:password@127.0.0.1/", "http://user@127.0.0.1/", "https://",
        "https:///",
        "https://exa mple.com/", "dict://127.0.0.1/", "http://10.0.0.1/", "HTTP://example.com",
    ])
    func otherAddressesAreRefused(url: String) throws {
        #expect(try reason { try Fetcher(options()).get(url) } == .refused)
    }

    @Test func plainHTTPNeedsPermission() throws {
        let server = try LocalHTTPServer { _ in .response() }
        for host in ["127.0.0.1", "localhost"] {
            let url = "http://\(host):\(server.port)/"
            #expect(try Fetcher(options()).get(url).status == 200)
            #expect(try reason { try Fetcher(options { $0.allowsLoopbackHTTP = false }).get(url) } == .refused)
        }
        #expect(server.requests.count == 2)
    }
}
