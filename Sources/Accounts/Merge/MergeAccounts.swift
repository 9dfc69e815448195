import Database
package import MariaDB
import Time

/// A merge of another account into the calling one (accounts §3.1).
package struct Merge: Sendable {
    /// What proves that the other account is the caller's, too.
    package enum Proof: Sendable {
        /// Issued to the account that is absorbed.
        case sessionToken(String)
    }

    package var proof: Proof
    package var precondition: Precondition

    package init(proof: Proof, precondition: Precondition) {
        self.proof = proof
        self.precondition = precondition
    }
}

extension Accounts {
    /// Absorbs the account that the proof stands for.
    ///
    /// Nothing is decided before both users are locked, and everything is written in the caller's transaction: a failure
    /// at any statement leaves both accounts and the token as they were.
    ///
    /// - Throws: in the order of accounts §3.1; `invalidToken` when the requester itself was absorbed meanwhile.
    package func merge(_ merge: Merge, by caller: Caller, in transaction: AccountsTransaction) throws -> IdentityLink {
        let connection = transaction.connection
        let shown = try connection.mergeToken(merge.proof)
        let (requester, target) = try transaction.lockCaller(caller, and: shown?.user)
        // Read again under the locks: the token may be used by now.
        let token = try connection.mergeToken(merge.proof)
        guard token?.user == shown?.user else { throw TransactionMustRestart() }
        let (absorbed, used) = try check(token, of: target, for: requester, connection, at: transaction.now)
        try merge.precondition.check(against: connection.mergePlan(of: absorbed.id).name(into: requester.id))
        try transaction.useUp(used.id)
        let evidence = MergeEvidence(method: .sessionToken, idempotencyKey: "st:\(used.id.rawValue)")
        return try transaction.absorb(absorbed, into: requester, by: evidence, actor: caller.actor)
    }

    /// The same checks and the plan on one consistent snapshot, without a lock or a write.
    ///
    /// - Parameter connection: inside a read-only snapshot.
    package func previewMerge(_ merge: Merge, by caller: Caller, _ connection: Connection) throws -> MergePreview {
        let token = try connection.mergeToken(merge.proof)
        let users = try connection.users(caller.id, token?.user)
        guard let requester = users[caller.id], requester.deletedAt == nil else { throw Failure.invalidToken }
        let (absorbed, _) = try check(
            token, of: token.flatMap { users[$0.user] }, for: requester, connection, at: clock.now)
        return try connection.previewMerge(of: absorbed.id, into: requester.id, merge.precondition)
    }

    /// - Parameter user: the token's, nil if it is gone.
    private func check(
        _ token: MergeTokenState?, of user: User?, for requester: User, _ connection: Connection, at now: Timestamp
    ) throws -> (absorbed: User, token: MergeTokenState) {
        let linked = try connection.absorbedUsers(among: requester.id, user?.id)
        if linked.contains(requester.id) { throw Failure.invalidToken }
        if requester.anonymous { throw Failure.anonymousRequester }
        guard let token else { throw Failure.invalidMergeToken }
        // Whoever repeats a merge without an Idempotency-Key learns that it was done: the token's user is absorbed then.
        if token.isUsed { throw Failure.mergeTokenConsumed }
        guard let user, user.deletedAt == nil, !linked.contains(user.id) else { throw Failure.invalidMergeToken }
        if token.expiresAt <= now { throw Failure.mergeTokenExpired }
        if user.id == requester.id { throw Failure.selfMergeForbidden }
        return (user, token)
    }
}
