public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Carries a request to the server and its answer back.
///
/// The transport follows no redirect, keeps no cookie and caches nothing: requests carry credentials, which are meant for
/// the host that they name.
public protocol Transport: Sendable {
    /// How long a request may take at most, its answer included.
    var timeout: Duration { get }

    /// - Throws: when there is no answer, whatever the reason, after `timeout` at the latest. Every status is an answer.
    func send(_ request: URLRequest) async throws -> (Data, HTTPURLResponse)

    /// Like `send`, for an answer that may be large: its body goes into a file, which is made or replaced. It may take
    /// longer than `timeout`, as long as something comes.
    func download(_ request: URLRequest, to file: URL) async throws -> HTTPURLResponse

    /// Like `send`, with the content of a file, which may be large, as the request's body. It may take longer than
    /// `timeout`, as long as something goes.
    func upload(_ request: URLRequest, from file: URL) async throws -> (Data, HTTPURLResponse)
}

extension Transport {
    /// A transport without another way holds the answer in memory.
    public func download(_ request: URLRequest, to file: URL) async throws -> HTTPURLResponse {
        let (body, response) = try await send(request)
        try body.write(to: file)
        return response
    }

    /// A transport without another way holds the file in memory.
    public func upload(_ request: URLRequest, from file: URL) async throws -> (Data, HTTPURLResponse) {
        var request = request
        request.httpBody = try Data(contentsOf: file)
        return try await send(request)
    }
}

/// URLSession.
public struct URLSessionTransport: Transport {
    public let timeout: Duration
    private let session: URLSession
    private let transfers: URLSession

    /// - Parameters:
    ///   - configuration: what the app needs besides, such as a proxy.
    ///   - timeout: how long a request may take at most.
    public init(_ configuration: URLSessionConfiguration = .ephemeral, timeout: Duration = .seconds(30)) {
        self.timeout = timeout
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.timeoutIntervalForRequest = timeout.seconds
        configuration.timeoutIntervalForResource = timeout.seconds
        // Of the session, not of the task: on Linux a task's own delegate is not asked about redirects.
        session = URLSession(configuration: configuration, delegate: RedirectRefusal(), delegateQueue: nil)
        // A session has a copy of its configuration.
        configuration.timeoutIntervalForResource = 3600
        transfers = URLSession(configuration: configuration, delegate: RedirectRefusal(), delegateQueue: nil)
    }

    public func send(_ request: URLRequest) async throws -> (Data, HTTPURLResponse) {
        let (body, response) = try await session.data(for: request)
        guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        return (body, response)
    }

    public func download(_ request: URLRequest, to file: URL) async throws -> HTTPURLResponse {
        let (temporary, response) = try await transfers.download(for: request)
        defer { try? FileManager.default.removeItem(at: temporary) }
        guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        try? FileManager.default.removeItem(at: file)
        try FileManager.default.moveItem(at: temporary, to: file)
        return response
    }

    public func upload(_ request: URLRequest, from file: URL) async throws -> (Data, HTTPURLResponse) {
        let (body, response) = try await transfers.upload(for: request, fromFile: file)
        guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        return (body, response)
    }
}

private final class RedirectRefusal: NSObject, URLSessionTaskDelegate, Sendable {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) { completionHandler(nil) }
}
