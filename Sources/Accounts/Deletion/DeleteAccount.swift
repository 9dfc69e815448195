import JSON
import MariaDB
package import Time

/// When an account was deleted, and when its grace ends.
package struct Deletion: Sendable {
    package var deletedAt: Timestamp
    package var purgeAt: Timestamp
}

extension Accounts {
    /// Deletes the caller's account (accounts §4.5): at once it opens nothing any more, and relying parties are told. Until
    /// the purge its identities stay reserved and it can be restored.
    package func deleteAccount(of caller: Caller, in transaction: AccountsTransaction) throws -> Deletion {
        let user = try transaction.lockCaller(caller).caller
        return try transaction.deleteSoftly(user.id, actor: caller.actor)
    }
}

extension AccountsTransaction {
    /// Everything that a deletion does at once. Accounts that the user absorbed have nothing left that could end; they are
    /// purged with it.
    ///
    /// - Parameter user: locked and live.
    func deleteSoftly(_ user: User.ID, actor: AuditEntry.Actor) throws -> Deletion {
        let deletion = Deletion(deletedAt: now, purgeAt: now + User.deletionGrace)
        try connection.execute(
            "UPDATE users SET version = version + 1, deleted_at = ?, purge_at = ? WHERE id = ?", deletion.deletedAt,
            deletion.purgeAt, user)
        try revokeAppleGrants(of: user)
        let devices = try connection.execute("DELETE FROM devices WHERE user_id = ?", user).affectedRows
        try revokePAKs(of: user, except: nil, reason: RevocationReason.accountDeleted.rawValue, actor: actor)
        try voidTickets(of: user)
        try voidMergeCredentials(of: user)
        // Their codes end with the grants.
        try deleteWebSessions(of: user)
        let subs = try revokeGrants(of: user, because: .accountDeleted, actor: actor)
        try revokeAgents(of: user)
        try denyPushApprovals(of: user, by: actor, because: RevocationReason.accountDeleted.rawValue)
        let notices = try connection.deletionNotices(of: user, knownAs: subs)
        try insert(notices, about: user)
        for notice in notices { emit(.userDeleted(user, notice, purgeAt: deletion.purgeAt)) }
        audit(
            .userDeleted, user: user, actor: actor,
            ["devices": .integer(Int64(devices)), "purge_at": .string(deletion.purgeAt.iso8601)])
        return deletion
    }

    /// Ends all consents of a user, so that each relying party gets the events of a revocation.
    ///
    /// - Parameter user: locked, so that nobody adds a grant.
    /// - Returns: the subs of the grants that were live, in the order of the grants; applications ascend.
    func revokeGrants(
        of user: User.ID, because reason: RevocationReason, actor: AuditEntry.Actor
    ) throws -> [(application: Application.ID, subs: [String])] {
        var subs: [Application.ID: [String]] = [:]
        var applications: [String: Application] = [:]
        for (grant, _, clientID) in try lockLiveGrants(of: user) {
            guard let application = try applications[clientID] ?? connection.client(clientID) else { continue }
            applications[clientID] = application
            try revoke(grant, GrantRevocation(user: user, application: application, reason: reason, actor: actor))
            subs[application.id, default: []].append(grant.sub)
        }
        return subs.sorted { $0.key < $1.key }.map { (application: $0.key, subs: $0.value) }
    }
}
