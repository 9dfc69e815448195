import MariaDB
import Synchronization
import Time

/// The keys that were read within the last minute, by the digests of their secrets.
///
/// A remembered key may have been deleted or changed since, so the first statement of whoever uses it also reads the version
/// of all keys (`KeyProof`).
final class RememberedKeys: Sendable {
    private struct Entry {
        var key: APIKey
        var readAt: Timestamp
    }

    private let entries = Mutex<[[UInt8]: Entry]>([:])
    static let lifetime = Duration.seconds(60)
    /// With more keys than this, all are read anew.
    private static let mostKeys = 10_000

    func remember(_ key: APIKey, _ digest: [UInt8], at now: Timestamp) {
        entries.withLock { entries in
            if entries.count >= Self.mostKeys { entries.removeAll() }
            entries[digest] = Entry(key: key, readAt: now)
        }
    }

    func forget(_ digest: [UInt8]) { entries.withLock { $0[digest] = nil } }

    func key(_ digest: [UInt8], at now: Timestamp) -> APIKey? {
        guard let entry = entries.withLock({ $0[digest] }), now >= entry.readAt, now < entry.readAt + Self.lifetime
        else {
            return nil
        }
        return entry.key
    }
}

/// That a request's key is live: it was just read, or it is remembered and the first statement of the request's rule
/// confirms it.
///
/// It belongs to one request.
package final class KeyProof {
    package let key: APIKey
    /// Whether the key was live after the request had begun.
    package private(set) var isConfirmed: Bool

    init(_ key: APIKey, isConfirmed: Bool) {
        self.key = key
        self.isConfirmed = isConfirmed
    }

    /// Of a key that was just read.
    package convenience init(read key: APIKey) { self.init(key, isConfirmed: true) }

    /// - Parameter version: that of all keys, read since the request began.
    /// - Throws: `KeyChanged` if some key has changed since this one was read.
    func confirm(_ version: Int?) throws {
        if isConfirmed { return }
        guard version == key.version else { throw KeyChanged() }
        isConfirmed = true
    }
}

/// A remembered key may have changed. It has to be read, and the request answered anew.
package struct KeyChanged: Error {}

extension Connection {
    /// In a statement of its own, for what has no other statement to read it with.
    func confirm(_ proof: KeyProof) throws {
        if proof.isConfirmed { return }
        try proof.confirm(try first("SELECT version FROM api_key_version WHERE id = 1") { row in try row.read() })
    }
}
