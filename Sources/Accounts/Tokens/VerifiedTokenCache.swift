import JOSE
import OpenSSL
import Synchronization

/// Checks access tokens with one key set, and remembers those it found good: relying parties ask about the same token
/// again and again, and RSA costs more than the rest of the answer.
final class VerifiedTokenCache: Sendable {
    /// By the digest of the token's text.
    private struct Known {
        var recent: [[UInt8]: SignedAccessToken] = [:]
        /// Those of before `recent` was full last.
        var older: [[UInt8]: SignedAccessToken] = [:]
    }

    private let keySet: KeySet
    private let limit: Int
    private let known = Mutex(Known())

    /// - Parameter limit: up to twice as many tokens are remembered, of about 1 KB each.
    init(_ keySet: KeySet, limit: Int = 4096) {
        self.keySet = keySet
        self.limit = limit
    }

    /// How many tokens are remembered.
    var count: Int { known.withLock { $0.recent.count + $0.older.count } }

    /// - Returns: nil for anything but an access token that one of the keys signed.
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
