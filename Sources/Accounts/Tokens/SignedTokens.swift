import JOSE
import OpenSSL
import Synchronization

/// Checks access tokens with one key set, and remembers those it found good: relying parties ask about the same token
/// again and again, and RSA costs more than the rest of the answer.
final class SignedTokens: Sendable {
    /// By the digest of the token's text.
    private struct Known {
        var recent: [[UInt8]: SignedAccessToken] = [:]
        /// Those of before `recent` was full last.
        var older: [[UInt8]: SignedAccessToken] = [:]
    }

    /// About 1 KB each.
    private static let limit = 4096

    private let keySet: KeySet
    private let known = Mutex(Known())

    init(_ keySet: KeySet) { self.keySet = keySet }

    /// - Returns: nil for anything but an access token that one of the keys signed.
    func token(_ text: String) -> SignedAccessToken? {
        let digest = sha256(text.utf8)
        if let token = known.withLock({ $0.recent[digest] ?? $0.older[digest] }) { return token }
        guard let token = SignedAccessToken(text, keySet: keySet) else { return nil }
        known.withLock { known in
            if known.recent.count >= Self.limit {
                known.older = known.recent
                known.recent = [:]
            }
            known.recent[digest] = token
        }
        return token
    }
}
