import JSON

/// What a person lost who was cut off.
package struct RevokedSessions: Sendable {
    package var webSessions: Int
    /// Grants whose tokens ended.
    package var grants: Int
    /// Agents whose tokens ended.
    package var agents: Int
}

extension AccountsTransaction {
    /// Cuts a person off (accounts §4.7): nobody is signed in to the account any more, in the server's own app, in browsers
    /// and at relying parties, until somebody signs in again. Agents have to be created anew. Consents stay.
    ///
    /// The devices of an identified account lose their secrets, because each would open the account again. The secret is
    /// all that an anonymous account has, so it stays. No device is notified until its app registers again, and no browser
    /// is signed in by an approval from before.
    ///
    /// - Throws: `RefusedOperation` if there is no such user, or it was absorbed; `adminRequired` as `lock` does.
    package func revokeSessions(of id: User.ID, by changer: Operator) throws -> RevokedSessions {
        let user = try lock(changer, andLive: id)
        let reason = RevocationReason.operator
        if !user.anonymous { try voidDeviceSecrets(of: id, except: nil, by: changer.actor) }
        try forgetPushTokens(of: id)
        try revokePAKs(of: id, except: nil, reason: reason.rawValue, actor: changer.actor)
        try voidTickets(of: id)
        try voidMergeCredentials(of: id)
        let sessions = try deleteWebSessions(of: id)
        var revoked = RevokedSessions(webSessions: sessions.count, grants: 0, agents: 0)
        for (grant, application, _) in try lockLiveGrants(of: id) {
            try revokeCodes(of: grant.id)
            // Also if no token is left: a relying party may have a session of its own.
            emit(LogoutNotice(application: application, sub: grant.sub))
            guard try revokeFamilies(of: grant.id) else { continue }
            revoked.grants += 1
            emit(
                .tokenRevoked(
                    of: grant.sub, Event.Notice(application: application, canonical: id, reason: reason)))
        }
        revoked.agents = try revokeAgents(of: id)
        try denyPushApprovals(of: id, by: changer.actor, because: reason.rawValue)
        audit(
            .sessionsRevoked, user: id, actor: changer.actor,
            [
                "web_sessions": .integer(Int64(revoked.webSessions)), "grants": .integer(Int64(revoked.grants)),
                "agents": .integer(Int64(revoked.agents)), "reason": .string(reason.rawValue),
            ])
        return revoked
    }
}
