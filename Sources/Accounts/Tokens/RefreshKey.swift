import OpenSSL

/// The Idempotency-Key of a refresh (accounts §3.8): with it the answer is repeated for a day, as long as nobody has used
/// what it holds.
package struct RefreshKey: Sendable {
    /// How long the answer is repeated at most.
    package static let grace = Duration.seconds(86_400)

    private let digest: [UInt8]

    /// Nil for what is not 22 to 255 visible ASCII characters: a shorter key could be guessed.
    package init?(_ text: String) {
        guard IdempotencyKey.isKey(text, ofAtLeast: 22) else { return nil }
        digest = sha256(text.utf8)
    }

    /// What the answer to both together is found by.
    func digest(with token: Secret) -> [UInt8] { sha256(token.digest + digest) }
}
