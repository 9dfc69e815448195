import JOSE
import OpenSSL
import Synchronization

/// Verifies access tokens with one key set, and caches the good ones. Relying parties ask about the same token many
/// times, and verifying RSA costs more than the rest of the answer.
final class VerifiedTokenCache: Sendable {
    /// Tokens by the digest of their text.
    private struct Known {
        var recent: [[UInt8]: SignedAccessToken] = [:]
        /// The previous generation of entries.
        var older: [[UInt8]: SignedAccessToken] = [:]
    }

    private let keySet: KeySet
    private let limit: Int
    private let known = Mutex(Known())

    /// - Parameter limit: entries of one generation. There are two generations, and an entry has about 1 KB.
    init(_ keySet: KeySet, limit: Int = 4096) {
        self.keySet = keySet
        self.limit = limit
    }

    /// The number of cached tokens.
    var count: Int { known.withLock { $0.recent.count + $0.older.count } }

    /// - Returns: nil if it is not an access token that one of the keys signed.
    func token(_ text: String) -> SignedAccessToken? {
        let digest = sha256(text.utf8)
        if let token = known.withLock({ $0.recent[digest] ?? $0.older[digest] }) { return token }
        guard let token = SignedAccessToken(text, keySet: keySet) else { return nil }
        known.withLock { known in
            if known.recent.count >= limit {
                known.older = known.recent
                known.recent = [:]
            }
            known.recent[digest] = token
        }
        return token
    }
}
