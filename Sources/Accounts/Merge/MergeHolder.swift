import Database
package import IdentityTokens
package import MariaDB

/// A merge in the browser (accounts §4.8): whoever is signed in to one account signs in to the other one, too. It is found
/// by (provider, sub) alone.
extension Accounts {
    /// Absorbs the account that an identity opens. A merge token of that account is written and used up, as if it had been
    /// shown to the caller.
    ///
    /// - Throws: `anonymousRequester`, `identityDoesNotResolveToExistingAccount`, `selfMergeForbidden`, `accountDeleted`,
    ///   `planChanged`, `rateLimited`; `invalidToken` when the caller was absorbed meanwhile.
    package func mergeHolder(
        of token: IdentityToken, _ precondition: Precondition, by caller: Caller, in transaction: AccountsTransaction
    ) throws -> IdentityLink {
        let connection = transaction.connection
        let (requester, holder, target) = try transaction.lockCaller(caller, andHolderOf: token)
        let absorbed = try check(holder: target, for: requester, connection)
        try precondition.check(against: connection.mergePlan(of: absorbed.id).name(into: requester.id))
        try transaction.renewAppleConsent(by: token, of: holder)
        let evidence = MergeEvidence(try transaction.insertMergeToken(Secret(.mergeToken), of: absorbed.id))
        return try transaction.absorb(absorbed, into: requester, by: evidence, actor: caller.actor, journaling)
    }

    /// The same checks and the plan, on one consistent snapshot.
    ///
    /// - Parameter connection: in a read-only snapshot.
    /// - Throws: as `mergeHolder`.
    package func previewMerge(
        ofHolderOf token: IdentityToken, by caller: Caller, _ connection: Connection
    ) throws -> (absorbed: User, preview: MergePreview) {
        let holder = try connection.holder(of: token.provider, token.subject)?.canonical
        let users = try connection.users(caller.id, holder)
        guard let requester = users[caller.id], requester.deletedAt == nil else { throw Failure.invalidToken }
        let absorbed = try check(holder: holder.flatMap { users[$0] }, for: requester, connection)
        return (absorbed, try connection.previewMerge(of: absorbed.id, into: requester.id, .none))
    }

    /// - Parameter holder: canonical; nil if nobody has the identity.
    private func check(holder: User?, for requester: User, _ connection: Connection) throws -> User {
        _ = try check(requester, or: holder, connection)
        guard let holder else { throw Failure.identityDoesNotResolveToExistingAccount }
        if holder.id == requester.id { throw Failure.selfMergeForbidden }
        try holder.checkNotDeleted()
        return holder
    }
}
