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
    private let sessions: Sessions

    /// - Parameters:
    ///   - configuration: what the app needs besides, such as a proxy. It is copied.
    ///   - timeout: how long a request may take at most.
    public init(_ configuration: URLSessionConfiguration = .ephemeral, timeout: Duration = .seconds(30)) {
        self.timeout = timeout
        sessions = Sessions(configuration, timeout: timeout)
    }

    public func send(_ request: URLRequest) async throws -> (Data, HTTPURLResponse) {
        let (answers, continuation) = AsyncThrowingStream<(Data, HTTPURLResponse), any Error>.makeStream()
        let task = sessions.requests.dataTask(with: request) { body, response, error in
            if let body, let response = response as? HTTPURLResponse { continuation.yield((body, response)) }
            continuation.finish(throwing: error ?? URLError(.badServerResponse))
        }
        // On Linux URLSession itself waits as long as something comes.
        let alarm = Task { [timeout] in
            try await ContinuousClock().sleep(for: timeout)
            continuation.finish(throwing: URLError(.timedOut))
        }
        continuation.onTermination = { _ in
            alarm.cancel()
            task.cancel()
        }
        task.resume()
        for try await answer in answers { return answer }
        throw CancellationError()
    }

    public func download(_ request: URLRequest, to file: URL) async throws -> HTTPURLResponse {
        let (temporary, response) = try await sessions.transfers.download(for: request)
        defer { try? FileManager.default.removeItem(at: temporary) }
        guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        try? FileManager.default.removeItem(at: file)
        try FileManager.default.moveItem(at: temporary, to: file)
        return response
    }

    public func upload(_ request: URLRequest, from file: URL) async throws -> (Data, HTTPURLResponse) {
        let (body, response) = try await sessions.transfers.upload(for: request, fromFile: file)
        guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        return (body, response)
    }
}

/// What a transport and its copies share. A session lives until it is invalidated.
private final class Sessions: Sendable {
    let requests: URLSession
    /// For bodies that may take longer than the time-out.
    let transfers: URLSession

    init(_ configuration: URLSessionConfiguration, timeout: Duration) {
        func session(longest: TimeInterval) -> URLSession {
            let own = configuration.copy() as? URLSessionConfiguration ?? .ephemeral
            own.httpCookieStorage = nil
            own.httpShouldSetCookies = false
            own.urlCache = nil
            own.requestCachePolicy = .reloadIgnoringLocalCacheData
            own.timeoutIntervalForRequest = timeout.seconds
            own.timeoutIntervalForResource = longest
            // Of the session, not of the task: on Linux a task's own delegate is not asked about redirects.
            return URLSession(configuration: own, delegate: RedirectRefusal(), delegateQueue: nil)
        }
        requests = session(longest: timeout.seconds)
        transfers = session(longest: 3600)
    }

    deinit {
        requests.finishTasksAndInvalidate()
        transfers.finishTasksAndInvalidate()
    }
}

private final class RedirectRefusal: NSObject, URLSessionTaskDelegate, Sendable {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) { completionHandler(nil) }
}
