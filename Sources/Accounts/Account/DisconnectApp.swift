import JSON
import MariaDB

extension Accounts {
    /// Withdraws the caller's consent to an application, and revokes everything issued under it (accounts §4.4). If the
    /// user consents again, the grant is revived with its old sub.
    ///
    /// - Throws: `insufficientScope` if the PAK is bound to another application; `notConnected` if there is no live
    ///   grant.
    package func disconnectApp(_ clientID: String, by caller: Caller, in transaction: AccountsTransaction) throws {
        let application = try transaction.connection.client(clientID)
        if let bound = caller.application, bound != application?.id { throw Failure.insufficientScope }
        // The user's codes, tokens and device keys are created under this lock or under the grant's.
        let (user, _) = try transaction.lockCaller(caller)
        guard let application else { throw Failure.notConnected }
        try transaction.revokePAKs(
            of: user.id, boundTo: application.id, reason: RevocationReason.userDisconnected.rawValue,
            actor: caller.actor)
        let grants = try transaction.lockGrants(of: user.id, for: application.id).filter(\.isLive)
        // The next authorization would use this one.
        guard let first = grants.first else { throw Failure.notConnected }
        let revocation = GrantRevocation(
            user: user.id, application: application, reason: .userDisconnected, actor: caller.actor)
        for grant in grants.sorted(by: { $0.id < $1.id }) { try transaction.revoke(grant, revocation) }
        transaction.emit(.grantsRevoked(of: first.sub, revocation.notice))
    }
}

/// Whose consent ends, at which application, why, and who ended it.
struct GrantRevocation {
    /// The canonical user.
    var user: User.ID
    var application: Application
    var reason: RevocationReason
    var actor: AuditEntry.Actor

    var notice: Event.Notice { Event.Notice(application: application.id, canonical: user, reason: reason) }
}

extension AccountsTransaction {
    /// Revokes a grant with its codes, refresh families and access tokens, and tells the relying party. No other code
    /// revokes a grant.
    ///
    /// - Parameter grant: locked and live; its user is, too.
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
        emit(LogoutNotice(application: revocation.application.id, sub: grant.sub))
    }
}
