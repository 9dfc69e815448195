import Analytics
import JSON
import Time

struct APIKeyBody: Encodable {
    let id: APIKey.ID
    let type: String
    let prefix: String
    let last4: String
    @Nullable var appID: App.ID?
    let teamID: Team.ID
    let name: String
    let permissions: [String]
    @Nullable var lastUsedAt: String?
    @Nullable var expiresAt: String?
    let createdAt: String
    @Nullable var revokedAt: String?
    /// Present only when a new key is shown.
    let secret: String?

    init(_ key: APIKeySummary, secret: String? = nil) {
        self.secret = secret
        id = key.id
        type = key.kind.rawValue
        prefix = key.kind.prefix
        last4 = key.lastCharacters
        appID = key.app
        teamID = key.team
        name = key.name
        permissions = key.permissions.map(\.rawValue)
        lastUsedAt = key.lastUsedAt?.iso8601Milliseconds
        expiresAt = key.expiresAt?.iso8601Milliseconds
        createdAt = key.createdAt.iso8601Milliseconds
        revokedAt = key.revokedAt?.iso8601Milliseconds
    }
}
