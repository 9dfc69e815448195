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
        let timeout = Duration.seconds(5)

        func send(_ request: URLRequest) async throws -> (Data, HTTPURLResponse) {
            try await URLSessionTransport(timeout: timeout).send(request)
        }
    }

    @Test(arguments: [Plain() as any Transport, URLSessionTransport(timeout: .seconds(5))])
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
}
