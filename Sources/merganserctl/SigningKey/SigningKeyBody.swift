import Accounts
import JSON
import Time

struct SigningKeyBody: Encodable {
    let kid: String
    let state: String
    let publishedAt: String
    @Nullable var activatedAt: String?
    @Nullable var retiredAt: String?
    @Nullable var publishedUntil: String?

    init(_ key: SigningKey, at now: Timestamp) {
        kid = key.keyID
        state = key.state(at: now).rawValue
        publishedAt = key.publishedAt.iso8601
        activatedAt = key.activatedAt?.iso8601
        retiredAt = key.retiredAt?.iso8601
        publishedUntil = key.publishedUntil?.iso8601
    }
}
