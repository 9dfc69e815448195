package import Database
package import JOSE
package import MariaDB
import Threads
package import Time

/// The signing keys in one process, shared by its threads.
///
/// All threads use one immutable copy of the table, so every key that signs is also published. A copy older than
/// `lifetime` is read again on its next use. One thread reads; the others use the old copy until it is older than
/// `staleness`. So every process notices a change within `SigningKey.propagation`. If the database fails, the old copy
/// stays in use. A private key is opened and parsed once.
package final class SigningKeyring: Sendable {
    private struct State {
        var copy: SigningKeyCopy?
        var isReading = false
        /// How many reads have ended.
        var readings = 0
        /// When the last read failed; nil if it succeeded.
        var failedAt: Timestamp?
    }

    private enum Step {
        case use(SigningKeyCopy)
        case read(SigningKeyCopy?)
        /// Another thread reads. The number is the count of reads before it.
        case wait(Int)
    }

    /// How long a copy is used before the table is read again.
    private static let lifetime = Duration.seconds(10)
    /// How long a copy is used while another thread reads the next one.
    private static let staleness = Duration.seconds(20)
    /// How long a caller waits for that thread at most.
    package static let patience = Duration.seconds(5)
    /// How long no thread tries again after a failed read.
    private static let retryPause = Duration.seconds(1)

    private let state = Monitor(State())
    private let serverKey: ServerKey
    private let clock: Clock

    package init(serverKey: ServerKey, clock: Clock) {
        self.serverKey = serverKey
        self.clock = clock
    }

    /// The newest key that signs now.
    ///
    /// - Throws: `SigningKeyUnavailable`; without a copy also the database's error.
    package func signer(_ connection: Connection) throws -> Signer {
        let now = clock.now
        let copy = try copy({ $0.signer(at: now) != nil }, { try connection.publishedSigningKeys(at: $0) })
        guard let signer = copy.signer(at: now) else { throw SigningKeyUnavailable.none }
        return try signer.get()
    }

    /// Every published key.
    package func keySet(_ connection: Connection) throws -> KeySet { try published(connection).keySet }

    /// The access token, if a published key signed it.
    func verifiedToken(_ text: String, _ connection: Connection) throws -> SignedAccessToken? {
        try published(connection).verifiedTokens.token(text)
    }

    private func published(_ connection: Connection) throws -> SigningKeyCopy {
        try copy(\.isPublishing) { try connection.publishedSigningKeys(at: $0) }
    }

    /// The key set as JSON (RFC 7517 §5). While the copy is fresh, the database is not read.
    ///
    /// - Returns: nil before the first key is published.
    package func document(_ database: Database) throws -> [UInt8]? {
        let copy = try copy(\.isPublishing) { now in try database.read { try $0.publishedSigningKeys(at: now) } }
        return copy.isPublishing ? copy.document : nil
    }

    /// - Parameters:
    ///   - isUsable: whether a copy has what the caller needs. If not, the table is read again, however fresh the copy
    ///     is, so that the first key of all is known at once.
    ///   - read: reads the keys that are published at that time.
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
            // If a copy is from the future, the clock was set back.
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

/// Why no token can be signed, in words for the operator.
package struct SigningKeyUnavailable: Error, Equatable, Sendable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }

    static let none = SigningKeyUnavailable(
        "there is no active signing key; run: merganserctl signing-key generate, then merganserctl signing-key activate"
    )
}
