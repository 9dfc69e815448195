import AccountReplies
import Accounts

extension UserSummaryReply {
    var words: String {
        let kind =
            user.anonymous ? "anonymous" : user.previouslyAnonymous ? "identified, previously anonymous" : "identified"
        var lines = [
            "user             \(user.id.rawValue), \(kind), \(user.role)",
            "name             \(user.name ?? "–")",
            "contact e-mail   \(user.contactEmail ?? "–")",
            "created          \(user.createdAt), last active \(user.lastActiveAt)",
        ]
        if let deleted = user.deletedAt { lines.append("deleted          \(deleted), purged \(user.purgeAt ?? "–")") }
        if let survivor = user.mergedInto { lines.append("merged into      \(survivor.rawValue)") }
        lines += links.map { "absorbed         user \($0.linkedUserID.rawValue) by \($0.mergedVia), \($0.createdAt)" }
        lines += absorbedSubs.map { "absorbed sub     \($0.clientID) sub \($0.sub) by \($0.via), \($0.occurredAt)" }
        lines += identities.map { "identity         \($0.provider) \($0.sub) \($0.email ?? "without e-mail")" }
        lines += devices.map {
            "device           \($0.id) \($0.platform) \($0.deviceUUID)\($0.hasSecret ? "" : ", secret voided")"
        }
        lines += grants.map { "grant            \($0.clientID) sub \($0.sub)\($0.revokedAt == nil ? "" : ", revoked")" }
        lines.append("live PAKs        \(livePAKs), \(webSessions) web sessions")
        lines.append("approvals        \(pendingAgentApprovals) pending from agents, \(pushApprovals) by push")
        return lines.joined(separator: "\n")
    }
}
