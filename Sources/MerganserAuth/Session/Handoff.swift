import Foundation
import MerganserClient

/// The sign-in that waits for the browser or the other app, if any. URLs come in synchronously.
final class Handoff: Sendable {
    private struct Waiting: Sendable {
        var state: String
        var arrival: AsyncStream<URL>.Continuation
        /// Whether it is in another app, from which the user may come back without it.
        var isElsewhere = false
        /// Whether its code is being exchanged.
        var hasArrived = false
    }

    private let redirectURI: String
    private let waiting = Locked<Waiting?>(nil)

    init(redirectURI: String) { self.redirectURI = redirectURI }

    /// - Returns: what `handle` brings for this state, and nothing if another sign-in takes its place; nil if one waits
    ///   whose browser is open.
    func begin(state: String) -> AsyncStream<URL>? {
        let (stream, arrival) = AsyncStream<URL>.makeStream()
        return waiting.withLock { waiting in
            guard waiting?.isElsewhere ?? true else { return nil }
            waiting?.arrival.finish()
            waiting = Waiting(state: state, arrival: arrival)
            return stream
        }
    }

    /// From now on only `handle` can end it, unless it has: the other app may be faster than the word that it was opened.
    func leave(state: String) {
        waiting.withLock { if let current = $0, current.state == state, !current.hasArrived { $0?.isElsewhere = true } }
    }

    func end(state: String) {
        waiting.withLock { if $0?.state == state { $0 = nil } }
    }

    /// - Returns: whether the URL is the redirect URI with parameters. One that answers another sign-in than the one that
    ///   waits ends nothing: any app can open the URL.
    func handle(_ url: URL) -> Bool {
        guard Callback.isOurs(url, redirectURI: redirectURI) else { return false }
        let state = Callback(url).state
        waiting.withLock { waiting in
            guard let current = waiting, current.state == state else { return }
            current.arrival.yield(url)
            current.arrival.finish()
            waiting?.isElsewhere = false
            waiting?.hasArrived = true
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
