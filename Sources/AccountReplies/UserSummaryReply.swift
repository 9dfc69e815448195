package import Accounts
package import JSON
import Time

/// An account as administrators see it: without its login_email, which is never shown (accounts §0.6).
package struct ListedUserReply: Encodable {
    package let id: User.ID
    package let anonymous: Bool
    package let previouslyAnonymous: Bool
    @Nullable package var name: String?
    @Nullable package var nickname: String?
    @Nullable package var contactEmail: String?
    package let role: String
    package let createdAt: String
    package let lastActiveAt: String
    @Nullable package var deletedAt: String?
    @Nullable package var purgeAt: String?
    @Nullable package var mergedInto: User.ID?

    package init(_ listed: ListedUser) {
        let user = listed.user
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
        mergedInto = listed.mergedInto
    }
}

/// An account and everything that belongs to it, without secrets.
package struct UserSummaryReply: Encodable {
    package struct Identity: Encodable {
        package let provider: String
        package let sub: String
        @Nullable package var email: String?
        package let emailVerified: Bool
        package let linkedAt: String
    }

    package struct Device: Encodable {
        package let id: Int
        package let deviceUUID: String
        package let platform: String
        package let hasSecret: Bool
        package let lastSeenAt: String
    }

    package struct Grant: Encodable {
        package let clientID: String
        package let sub: String
        package let scopes: [String]
        package let createdAt: String
        @Nullable package var revokedAt: String?
    }

    package struct Link: Encodable {
        package let id: MergeID
        package let linkedUserID: User.ID
        package let mergedVia: String
        package let createdAt: String
    }

    package struct AbsorbedSub: Encodable {
        package let clientID: String
        package let sub: String
        package let via: String
        package let wasAnonymous: Bool
        package let occurredAt: String
    }

    package let user: ListedUserReply
    package let identities: [Identity]
    package let devices: [Device]
    package let grants: [Grant]
    package let links: [Link]
    package let absorbedSubs: [AbsorbedSub]
    package let livePAKs: Int
    package let webSessions: Int
    package let pendingAgentApprovals: Int
    package let pushApprovals: Int
    /// The names of the lists that have only the newest; nil if there are none.
    package let truncated: [String]?

    package init(_ summary: UserSummary) {
        user = ListedUserReply(ListedUser(user: summary.user, mergedInto: summary.absorption?.survivor))
        identities = summary.identities.lines.map {
            Identity(
                provider: $0.provider, sub: $0.subject, email: $0.email, emailVerified: $0.emailVerified,
                linkedAt: $0.linkedAt.iso8601)
        }
        devices = summary.devices.lines.map {
            Device(
                id: $0.id, deviceUUID: $0.uuid, platform: $0.platform, hasSecret: $0.hasSecret,
                lastSeenAt: $0.lastSeenAt.iso8601)
        }
        grants = summary.grants.lines.map {
            Grant(
                clientID: $0.clientID, sub: $0.sub, scopes: $0.scopes, createdAt: $0.createdAt.iso8601,
                revokedAt: $0.revokedAt?.iso8601)
        }
        links = summary.links.lines.map {
            Link(id: $0.id, linkedUserID: $0.absorbed, mergedVia: $0.mergedVia, createdAt: $0.createdAt.iso8601)
        }
        absorbedSubs = summary.absorbedSubs.lines.map {
            AbsorbedSub(
                clientID: $0.clientID, sub: $0.sub, via: $0.via, wasAnonymous: $0.wasAnonymous,
                occurredAt: $0.occurredAt.iso8601)
        }
        livePAKs = summary.livePAKs
        webSessions = summary.webSessions
        pendingAgentApprovals = summary.pendingAgentApprovals
        pushApprovals = summary.pushApprovals
        let names = [
            ("identities", summary.identities.hasMore), ("devices", summary.devices.hasMore),
            ("grants", summary.grants.hasMore), ("links", summary.links.hasMore),
            ("absorbed_subs", summary.absorbedSubs.hasMore),
        ].compactMap { name, hasMore in hasMore ? name : nil }
        truncated = names.isEmpty ? nil : names
    }
}
