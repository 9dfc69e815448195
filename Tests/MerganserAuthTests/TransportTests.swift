import Foundation
import MerganserClient
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What carries requests, with a server of the test's own.
@Suite struct TransportTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func request(_ server: LocalHTTPServer, _ method: String = "POST") throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: server.url)))
        request.httpMethod = method
        request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
        return request
    }

    /// A transport that has only what the protocol asks for.
    private struct Plain: Transport {
        let timeout = Duration.seconds(60)

        func send(_ request: URLRequest) async throws -> (Data, HTTPURLResponse) {
            try await URLSessionTransport(timeout: timeout).send(request)
        }
    }

    @Test(arguments: [Plain() as any Transport, URLSessionTransport(timeout: .seconds(60))])
    func aFileIsABody(transport: any Transport) async throws {
        let server = try LocalHTTPServer { .response(status: 201, body: Array("\($0.body.count)".utf8)) }
        let content = String(repeating: "merganser ", count: 100_000)
        try directory.write(content, to: "large")
        let file = URL(filePath: directory.file("large"))
        let (body, response) = try await transport.upload(request(server), from: file)
        #expect(response.statusCode == 201)
        #expect(String(decoding: body, as: UTF8.self) == "\(content.utf8.count)")
        let sent = try #require(server.requests.first)
        #expect(sent.method == "POST" && sent.header("content-type") == "text/plain")
        #expect(sent.body == Array(content.utf8))

        let none = URL(filePath: directory.file("none"))
        await #expect(throws: (any Error).self) { try await transport.upload(request(server), from: none) }
    }

    /// Reads two megabytes of the body each second, sixteen seconds in all. What waits in the kernel when the client has
    /// written everything is small, so that the client does not wait long for the answer.
    private static let slowReader = """
        import socket, time
        server = socket.socket()
        server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        server.bind(("127.0.0.1", 0))
        server.listen()
        print(server.getsockname()[1], flush=True)
        connection, _ = server.accept()
        start = time.monotonic()
        read = 0
        while read < 32_000_000:
            part = connection.recv(65536)
            if not part: raise SystemExit("the client has gone")
            read += len(part)
            time.sleep(max(0, start + read / 2_000_000 - time.monotonic()))
        connection.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\n{}")
        """

    @Test func anUploadMayTakeLong() async throws {
        let server = try ChildProcess("/usr/bin/python3", ["-c", Self.slowReader])
        try directory.write(String(repeating: "merganser ", count: 3_200_000), to: "large")
        var request = URLRequest(url: try url(of: server))
        request.httpMethod = "POST"
        // Far longer than a busy machine keeps a process waiting, and shorter than the upload.
        let transport = URLSessionTransport(timeout: .seconds(10))
        let start = ContinuousClock.now
        let (body, _) = try await transport.upload(request, from: URL(filePath: directory.file("large")))
        #expect(String(decoding: body, as: UTF8.self) == "{}")
        #expect(ContinuousClock.now - start > transport.timeout)
    }

    private func url(of server: ChildProcess) throws -> URL {
        try server.wait(for: "a port") { server.output.hasSuffix("\n") }
        let port = server.output.trimmingCharacters(in: .whitespacesAndNewlines)
        return try #require(URL(string: "http://127.0.0.1:\(port)/"))
    }

    /// An answer that always comes on, and has no end.
    private static let trickle = """
        import socket, time
        server = socket.create_server(("127.0.0.1", 0))
        print(server.getsockname()[1], flush=True)
        connection, _ = server.accept()
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 1000000000\\r\\n\\r\\n")
        while True:
            connection.sendall(b" ")
            time.sleep(0.1)
        """

    @Test(.timeLimit(.minutes(5))) func aTimeoutHoldsHoweverMuchComes() async throws {
        let server = try ChildProcess("/usr/bin/python3", ["-c", Self.trickle])
        let request = URLRequest(url: try url(of: server))
        let transport = URLSessionTransport(timeout: .seconds(1))
        await #expect(throws: URLError.self) { try await transport.send(request) }
    }

    @Test func aConfigurationStaysItsOwners() throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForResource = 17
        let storage = try #require(configuration.httpCookieStorage)
        _ = URLSessionTransport(configuration, timeout: .seconds(5))
        #expect(configuration.timeoutIntervalForResource == 17)
        #expect(configuration.httpCookieStorage === storage)
    }

    @Test(arguments: [
        (204, "", true), (200, "{}", true), (200, "[]", false), (200, "<html>Welcome", false),
        (400, #"{"error":"invalid_grant"}"#, true), (404, #"{"code":"not_found"}"#, true), (400, "{}", false),
        (408, #"{"error":"timeout"}"#, false), (425, #"{"error":"early"}"#, false),
        (429, #"{"error":"rate_limited"}"#, false), (302, "{}", false), (500, #"{"error":"internal_error"}"#, false),
    ])
    func someAnswersDecideNothing(status: Int, body: String, isDefinite: Bool) throws {
        #expect(try response(status, [:]).isDefinite(Data(body.utf8)) == isDefinite)
    }

    @Test func whatTheServerAsksForIsUnderstood() throws {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        #expect(try response(503, ["Retry-After": "120"]).retryAfter == .seconds(120))
        #expect(try response(503, ["Retry-After": "-1"]).retryAfter == .zero)
        let later = ["Retry-After": "Sun, 06 Nov 1994 08:51:37 GMT", "Date": date]
        #expect(try response(503, later).retryAfter == .seconds(120))
        #expect(try response(503, ["Retry-After": date, "Date": later["Retry-After"] ?? ""]).retryAfter == .zero)
        #expect(try response(503, ["Retry-After": date]).retryAfter == nil)
        #expect(try response(503, ["Retry-After": "soon", "Date": date]).retryAfter == nil)
        #expect(try response(503, [:]).retryAfter == nil)
    }

    private func response(_ status: Int, _ headers: [String: String]) throws -> HTTPURLResponse {
        let url = try #require(URL(string: "http://localhost/"))
        return try #require(HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: headers))
    }

    @Test func urlsAreText() throws {
        let url = try #require(URL(string: "https://id.example.com/base/"))
        #expect(url.withoutFinalSlash == "https://id.example.com/base")
        #expect(formEncoded([("a b", "é/&=+"), ("c", "-._~")]) == "a%20b=%C3%A9%2F%26%3D%2B&c=-._~")
    }

    @Test(arguments: [
        ("https://id.example.com", true), ("http://id.example.com", false), ("http://LOCALHOST:8080", true),
        ("http://127.0.0.1", true), ("http://[::1]:80", true), ("https:///path", false), ("ftp://localhost", false),
        ("http://localhost.example.com", false),
    ])
    func credentialsGoNowhereElse(text: String, expected: Bool) throws {
        #expect(try #require(URL(string: text)).canCarryCredentials == expected)
    }
}
