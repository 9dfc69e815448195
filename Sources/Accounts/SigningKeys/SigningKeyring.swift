package import Database
package import JOSE
package import MariaDB
import Threads
package import Time

/// The signing keys as one process knows them, shared by its threads.
///
/// They work with one immutable copy of the table, so what a process signs with it also publishes. The copy is read again
/// on use when it is older than `lifetime`, by one thread at a time; the others go on with the old one unless that has
/// become too old, so every process notices a change within `SigningKey.propagation`. When the database fails, the old
/// copy serves. A private key is opened and parsed once.
package final class SigningKeyring: Sendable {
    private struct State {
        var copy: SigningKeyCopy?
        var isReading = false
        /// How many readings have ended.
        var readings = 0
        /// When the last reading failed; nil when it did not.
        var failedAt: Timestamp?
    }

    private enum Step {
        case use(SigningKeyCopy)
        case read(SigningKeyCopy?)
        /// Another thread reads; the number of readings before that.
        case wait(Int)
    }

    /// How long a copy serves without a look at the table.
    private static let lifetime = Duration.seconds(10)
    /// How long it serves while another thread reads the next one.
    private static let staleness = Duration.seconds(20)
    /// How long callers wait for that thread when they must.
    package static let patience = Duration.seconds(5)
    /// After a failure nobody tries again for so long.
    private static let retryPause = Duration.seconds(1)

    private let state = Monitor(State())
    private let serverKey: ServerKey
    private let clock: Clock

    package init(serverKey: ServerKey, clock: Clock) {
        self.serverKey = serverKey
        self.clock = clock
    }

    /// The newest key that signs by now.
    ///
    /// - Throws: `SigningKeyUnavailable`, or what the database refuses when there is no copy yet.
    package func signer(_ connection: Connection) throws -> Signer {
        let now = clock.now
        let copy = try copy({ $0.signer(at: now) != nil }, { try connection.publishedSigningKeys(at: $0) })
        guard let signer = copy.signer(at: now) else { throw SigningKeyUnavailable.none }
        return try signer.get()
    }

    /// Every published key.
    package func keySet(_ connection: Connection) throws -> KeySet { try published(connection).keySet }

    /// An access token, if a published key has signed it.
    func signedToken(_ text: String, _ connection: Connection) throws -> SignedAccessToken? {
        try published(connection).signedTokens.token(text)
    }

    private func published(_ connection: Connection) throws -> SigningKeyCopy {
        try copy(\.isPublishing) { try connection.publishedSigningKeys(at: $0) }
    }

    /// The key set as JSON (RFC 7517 §5), without touching the database while the copy is fresh.
    ///
    /// - Returns: nil before the first key is published.
    package func document(_ database: Database) throws -> [UInt8]? {
        let copy = try copy(\.isPublishing) { now in try database.read { try $0.publishedSigningKeys(at: now) } }
        return copy.isPublishing ? copy.document : nil
    }

    /// - Parameters:
    ///   - isUsable: whether a copy holds what is asked for; else it is read again, however fresh. So the first key of all
    ///     is known at once.
    ///   - read: what is published at that time.
    private func copy(
        _ isUsable: (SigningKeyCopy) -> Bool, _ read: (Timestamp) throws -> [PublishedSigningKey]
    ) throws -> SigningKeyCopy {
        let now = clock.now
        switch state.withLock({ step(now, isUsable, &$0) }) {
        case .use(let copy): return copy
        case .wait(let readings):
            _ = state.wait(atMost: Self.patience) { $0.readings > readings ? true : nil }
            guard let copy = state.withLock(\.copy) else {
                throw SigningKeyUnavailable("the signing keys could not be read in time")
            }
            return copy
        case .read(let old):
            do {
                let copy = try SigningKeyCopy(read(now), at: now, after: old, serverKey)
                end(copy, failedAt: nil)
                return copy
            } catch {
                end(old, failedAt: now)
                guard let old else { throw error }
                return old
            }
        }
    }

    private func step(_ now: Timestamp, _ isUsable: (SigningKeyCopy) -> Bool, _ state: inout State) -> Step {
        if let copy = state.copy {
            let age = now - copy.readAt
            // A copy of the future is one of before the clock was set back.
            if age >= .zero, age < Self.lifetime, isUsable(copy) { return .use(copy) }
            if let failedAt = state.failedAt, failedAt <= now, now - failedAt < Self.retryPause { return .use(copy) }
            if state.isReading, age < Self.staleness, isUsable(copy) { return .use(copy) }
        }
        if state.isReading { return .wait(state.readings) }
        state.isReading = true
        return .read(state.copy)
    }

    private func end(_ copy: SigningKeyCopy?, failedAt: Timestamp?) {
        state.change { state in
            state.copy = copy
            state.failedAt = failedAt
            state.isReading = false
            state.readings += 1
        }
    }
}

/// Why nothing can be signed, in words for the operator.
package struct SigningKeyUnavailable: Error, Equatable, Sendable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }

    static let none = SigningKeyUnavailable(
        "there is no active signing key; run: merganserctl signing-key generate, then merganserctl signing-key activate"
    )
}
