import Accounts
import JSON
import Time

struct UserBody: Encodable {
    let id: User.ID
    let anonymous: Bool
    let previouslyAnonymous: Bool
    @Nullable var name: String?
    @Nullable var nickname: String?
    @Nullable var contactEmail: String?
    let role: String
    let createdAt: String
    let lastActiveAt: String
    @Nullable var deletedAt: String?
    @Nullable var purgeAt: String?
    @Nullable var mergedInto: User.ID?
    let identities: [IdentityBody]
    let devices: [DeviceBody]
    let grants: [GrantBody]
    let livePAKs: Int
    let pendingAgentApprovals: Int
    let pushApprovals: Int

    struct IdentityBody: Encodable {
        let provider: String
        @Nullable var email: String?
        let linkedAt: String
    }

    struct DeviceBody: Encodable {
        let id: Int
        let deviceUUID: String
        let platform: String
        let hasSecret: Bool
        let lastSeenAt: String
    }

    struct GrantBody: Encodable {
        let clientID: String
        let sub: String
        let scopes: [String]
        let createdAt: String
        @Nullable var revokedAt: String?
    }

    init(_ summary: UserSummary) {
        let user = summary.user
        id = user.id
        anonymous = user.anonymous
        previouslyAnonymous = user.previouslyAnonymous
        name = user.name
        nickname = user.nickname
        contactEmail = user.contactEmail
        role = user.role.rawValue
        createdAt = user.createdAt.iso8601
        lastActiveAt = user.lastActiveAt.iso8601
        deletedAt = user.deletedAt?.iso8601
        purgeAt = user.purgeAt?.iso8601
        mergedInto = summary.mergedInto
        identities = summary.identities.map {
            IdentityBody(provider: $0.provider, email: $0.email, linkedAt: $0.linkedAt.iso8601)
        }
        devices = summary.devices.map {
            DeviceBody(
                id: $0.id, deviceUUID: $0.uuid, platform: $0.platform, hasSecret: $0.hasSecret,
                lastSeenAt: $0.lastSeenAt.iso8601)
        }
        grants = summary.grants.map {
            GrantBody(
                clientID: $0.clientID, sub: $0.sub, scopes: $0.scopes, createdAt: $0.createdAt.iso8601,
                revokedAt: $0.revokedAt?.iso8601)
        }
        livePAKs = summary.livePAKs
        pendingAgentApprovals = summary.pendingAgentApprovals
        pushApprovals = summary.pushApprovals
    }

    var words: String {
        let kind = anonymous ? "anonymous" : previouslyAnonymous ? "identified, previously anonymous" : "identified"
        var lines = [
            "user             \(id.rawValue), \(kind), \(role)",
            "name             \(name ?? "–")",
            "contact e-mail   \(contactEmail ?? "–")",
            "created          \(createdAt), last active \(lastActiveAt)",
        ]
        if let deleted = deletedAt { lines.append("deleted          \(deleted), purged \(purgeAt ?? "–")") }
        if let survivor = mergedInto { lines.append("merged into      \(survivor.rawValue)") }
        lines += identities.map { "identity         \($0.provider) \($0.email ?? "without e-mail")" }
        lines += devices.map {
            "device           \($0.id) \($0.platform) \($0.deviceUUID)\($0.hasSecret ? "" : ", secret voided")"
        }
        lines += grants.map { "grant            \($0.clientID) sub \($0.sub)\($0.revokedAt == nil ? "" : ", revoked")" }
        lines.append("live PAKs        \(livePAKs)")
        lines.append("approvals        \(pendingAgentApprovals) pending from agents, \(pushApprovals) by push")
        return lines.joined(separator: "\n")
    }
}
