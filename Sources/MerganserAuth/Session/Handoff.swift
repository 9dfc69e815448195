import Foundation
import MerganserClient

/// The sign-in that waits for the browser or the other app, if any. URLs come in synchronously.
final class Handoff: Sendable {
    private struct Waiting: Sendable {
        var state: String
        var arrival: AsyncStream<URL>.Continuation
    }

    private let redirectURI: String
    private let waiting = Locked<Waiting?>(nil)

    init(redirectURI: String) { self.redirectURI = redirectURI }

    /// - Returns: what `handle` brings for this state; nil if a sign-in waits already.
    func begin(state: String) -> AsyncStream<URL>? {
        let (stream, arrival) = AsyncStream<URL>.makeStream()
        return waiting.withLock { waiting in
            guard waiting == nil else { return nil }
            waiting = Waiting(state: state, arrival: arrival)
            return stream
        }
    }

    func end() { waiting.withLock { $0 = nil } }

    /// - Returns: whether the URL is the redirect URI with parameters. One that answers another sign-in than the one that
    ///   waits ends nothing: any app can open the URL.
    func handle(_ url: URL) -> Bool {
        guard Callback.isOurs(url, redirectURI: redirectURI) else { return false }
        let state = Callback(url).state
        waiting.withLock { waiting in
            guard let current = waiting, current.state == state else { return }
            current.arrival.yield(url)
            current.arrival.finish()
        }
        return true
    }
}

/// The parameters that came back (RFC 6749 §4.1.2).
struct Callback {
    let code: String?
    let state: String?
    let error: String?
    let errorDescription: String?

    init(_ url: URL) {
        let pairs = queryPairs(of: url)
        func value(_ name: String) -> String? { pairs.first { $0.name == name && !$0.value.isEmpty }?.value }
        (code, state) = (value("code"), value("state"))
        (error, errorDescription) = (value("error"), value("error_description"))
    }

    /// - Throws: `stateMismatch`, `authorizationRefused`, `missingCode`.
    func code(for expected: String) throws(MerganserError) -> String {
        guard state == expected else {
            // Without any parameter of ours nothing was answered at all.
            throw state == nil && code == nil && error == nil ? .missingCode : .stateMismatch
        }
        if let error { throw .authorizationRefused(code: error, description: errorDescription) }
        guard let code else { throw .missingCode }
        return code
    }

    /// Whether a URL is the redirect URI, whatever its query. Scheme and host have no case.
    static func isOurs(_ url: URL, redirectURI: String) -> Bool {
        guard let own = URLComponents(string: redirectURI),
            let other = URLComponents(url: url, resolvingAgainstBaseURL: true)
        else { return false }
        let ownItems = own.queryItems ?? []
        return own.scheme?.lowercased() == other.scheme?.lowercased()
            && (own.host ?? "").lowercased() == (other.host ?? "").lowercased() && own.port == other.port
            && own.path == other.path && (other.queryItems ?? []).starts(with: ownItems)
    }
}
