import OpenSSL
import Text

/// Proof Key for Code Exchange, method S256 (RFC 7636).
enum CodeChallenge {
    /// 43 base64url characters: an unpadded SHA-256.
    static func isWellFormed(_ challenge: String) -> Bool {
        challenge.utf8.count == 43
            && challenge.utf8.allSatisfy { PercentEncoding.isUnreserved($0) && !".~".utf8.contains($0) }
    }

    /// Whether the verifier, 43 to 128 unreserved characters, belongs to the challenge.
    static func matches(_ challenge: String, verifier: String) -> Bool {
        guard (43...128).contains(verifier.utf8.count), verifier.utf8.allSatisfy(PercentEncoding.isUnreserved) else {
            return false
        }
        return constantTimeEqual(
            Array(Base64URL.encode(sha256(verifier.utf8)).utf8), Array(challenge.utf8))
    }
}
