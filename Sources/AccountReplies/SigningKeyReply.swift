package import Accounts
package import JSON
package import Time

/// A key that signs tokens, without its private part.
package struct SigningKeyReply: Encodable {
    package let kid: String
    package let state: String
    package let publishedAt: String
    @Nullable package var activatedAt: String?
    @Nullable package var retiredAt: String?
    @Nullable package var publishedUntil: String?
    /// RFC 7517 §4; null of a key that is not published any more; absent where only the key's times are shown.
    package let publicKey: JSONValue?

    package init(_ key: SigningKey, at now: Timestamp, publicKey: JSONValue? = nil) {
        kid = key.keyID
        state = key.state(at: now).rawValue
        publishedAt = key.publishedAt.iso8601
        activatedAt = key.activatedAt?.iso8601
        retiredAt = key.retiredAt?.iso8601
        publishedUntil = key.publishedUntil?.iso8601
        self.publicKey = publicKey
    }
}
