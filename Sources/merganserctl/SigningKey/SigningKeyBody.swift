import Accounts
import JSON
import Time

struct SigningKeyBody: Encodable {
    let keyID: String
    let state: String
    let publishedAt: String
    @Nullable var activatedAt: String?
    @Nullable var retiredAt: String?
    @Nullable var publishedUntil: String?

    init(_ key: SigningKey, at now: Timestamp) {
        keyID = key.keyID
        state = key.state(at: now).rawValue
        publishedAt = key.publishedAt.iso8601
        activatedAt = key.activatedAt?.iso8601
        retiredAt = key.retiredAt?.iso8601
        publishedUntil = key.publishedUntil?.iso8601
    }

    private enum CodingKeys: String, CodingKey {
        case keyID = "kid"
        case state
        case publishedAt = "published_at"
        case activatedAt = "activated_at"
        case retiredAt = "retired_at"
        case publishedUntil = "published_until"
    }
}
