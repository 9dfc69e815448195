import JSON
import MariaDB

extension Accounts {
    /// Withdraws every consent of the caller to an application, with all that was given out under it (accounts §4.4).
    /// New consent revives a grant under the sub it had.
    ///
    /// - Throws: `insufficientScope` when the PAK is bound to another application; `notConnected` without a live grant.
    package func disconnectApp(_ clientID: String, by caller: Caller, in transaction: AccountsTransaction) throws {
        let application = try transaction.connection.client(clientID)
        if let bound = caller.application, bound != application?.id { throw Failure.insufficientScope }
        // Codes, tokens and device keys of the person come to be under the same lock, or under the grant's.
        let (user, _) = try transaction.lockCaller(caller)
        guard let application else { throw Failure.notConnected }
        try transaction.revokePAKs(
            of: user.id, boundTo: application.id, reason: RevocationReason.userDisconnected.rawValue,
            actor: caller.actor)
        let grants = try transaction.lockGrants(of: user.id, for: application.id).filter(\.isLive)
        // The one that the next authorization would use.
        guard let first = grants.first else { throw Failure.notConnected }
        let revocation = GrantRevocation(
            user: user.id, application: application, reason: .userDisconnected, actor: caller.actor)
        for grant in grants.sorted(by: { $0.id < $1.id }) { try transaction.revoke(grant, revocation) }
        transaction.emit(.grantsRevoked(of: first.sub, revocation.notice))
    }
}

/// Whose consent ends, at which application, why and by whom.
struct GrantRevocation {
    /// Canonical.
    var user: User.ID
    var application: Application
    var reason: RevocationReason
    var actor: AuditEntry.Actor

    var notice: Event.Notice { Event.Notice(application: application.id, canonical: user, reason: reason) }
}

extension AccountsTransaction {
    /// The one way a consent ends: codes, refresh families and access tokens end with it, and the relying party is told.
    ///
    /// - Parameter grant: locked, live; and so is its user.
    func revoke(_ grant: Grant, _ revocation: GrantRevocation) throws {
        try connection.execute("UPDATE grants SET revoked_at = ? WHERE id = ?", now, grant.id)
        try revokeCodes(of: grant.id)
        try revokeFamilies(of: grant.id)
        audit(
            .grantRevoked, user: revocation.user, actor: revocation.actor,
            [
                "client_id": .string(revocation.application.clientID), "sub": .string(grant.sub),
                "reason": .string(revocation.reason.rawValue),
            ])
        emit(.tokenRevoked(of: grant.sub, revocation.notice))
        emit(.consentRevoked(of: grant.sub, grant.scopes, revocation.notice))
    }
}
