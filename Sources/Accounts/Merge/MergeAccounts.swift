import Database
package import MariaDB
import Time

/// A merge of another account into the calling one (accounts §3.1).
package struct Merge: Sendable {
    /// What proves that the other account is the caller's, too.
    package enum Proof: Sendable {
        /// Issued to the account that is absorbed.
        case sessionToken(String)
        /// A code that was mailed to the account that is absorbed.
        case otp(String, MergeTarget)
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
    /// at any statement leaves both accounts and the proof as they were.
    ///
    /// - Returns: `invalidOTP` as a result and not as an error, so that the try is committed.
    /// - Throws: in the order of accounts §3.1; `invalidToken` when the requester itself was absorbed meanwhile.
    package func merge(
        _ merge: Merge, by caller: Caller, in transaction: AccountsTransaction
    ) throws -> Result<IdentityLink, Failure> {
        guard let proven = try prove(merge.proof, by: caller, in: transaction) else { return .failure(.invalidOTP) }
        let (absorbed, survivor) = (proven.absorbed, proven.survivor)
        try merge.precondition.check(
            against: transaction.connection.mergePlan(of: absorbed.id).name(into: survivor.id))
        return .success(
            try transaction.absorb(
                absorbed, into: survivor, by: proven.evidence, actor: caller.actor, journaling))
    }

    /// The same checks and the plan, under the same locks. Nothing is used up or moved.
    ///
    /// - Returns: `invalidOTP` is a result, because the try that it was is committed.
    /// - Throws: as `merge`.
    package func previewMerge(
        _ merge: Merge, by caller: Caller, in transaction: AccountsTransaction
    ) throws -> Result<MergePreview, Failure> {
        guard let proven = try prove(merge.proof, by: caller, in: transaction) else { return .failure(.invalidOTP) }
        return .success(
            try transaction.connection.previewMerge(
                of: proven.absorbed.id, into: proven.survivor.id, merge.precondition))
    }

    /// The same with a session token on one consistent snapshot, without a lock or a write.
    ///
    /// - Parameter connection: in a read-only snapshot.
    package func previewMerge(
        ofTokenBearer token: String, _ precondition: Precondition, by caller: Caller, _ connection: Connection
    ) throws -> MergePreview {
        let token = try connection.mergeToken(token)
        let users = try connection.users(caller.id, token?.user)
        guard let requester = users[caller.id], requester.deletedAt == nil else { throw Failure.invalidToken }
        let target = token.flatMap { users[$0.user] }
        let linked = try check(requester, or: target, connection)
        let absorbed = try check(token, of: target, linked, for: requester, at: clock.now).absorbed
        return try connection.previewMerge(of: absorbed.id, into: requester.id, precondition)
    }

    /// Whom a merge absorbs, and into whom: both locked.
    private struct ProvenMerge {
        let absorbed: User
        let survivor: User
        let evidence: MergeEvidence
    }

    /// - Returns: nil if the code is not the right one; the try that it was is to be committed.
    private func prove(
        _ proof: Merge.Proof, by caller: Caller, in transaction: AccountsTransaction
    ) throws -> ProvenMerge? {
        let connection = transaction.connection
        let shown = try connection.user(provenBy: proof)
        let (requester, target) = try transaction.lockCaller(caller, and: shown)
        // Read again under the locks: the token may be used by now, the address somebody else's.
        guard try connection.user(provenBy: proof) == shown else { throw TransactionMustRestart() }
        let linked = try check(requester, or: target, connection)
        switch proof {
        case .sessionToken(let text):
            let (absorbed, token) = try check(
                connection.mergeToken(text), of: target, linked, for: requester, at: transaction.now)
            return ProvenMerge(absorbed: absorbed, survivor: requester, evidence: MergeEvidence(token.id))
        case .otp(let code, let name):
            let otp = try checkMergeOTP(code, for: name, leadingTo: shown, of: requester.id, in: transaction)
            guard let otp else { return nil }
            let absorbed = try check(target, linked, for: requester)
            return ProvenMerge(absorbed: absorbed, survivor: requester, evidence: MergeEvidence(otp))
        }
    }

    /// - Returns: those of both that a merge absorbed.
    func check(_ requester: User, or target: User?, _ connection: Connection) throws -> Set<User.ID> {
        let linked = try connection.absorbedUsers(among: requester.id, target?.id)
        if linked.contains(requester.id) { throw Failure.invalidToken }
        if requester.anonymous { throw Failure.anonymousRequester }
        return linked
    }

    /// - Parameter user: the token's, nil if it is gone.
    private func check(
        _ token: MergeTokenState?, of user: User?, _ linked: Set<User.ID>, for requester: User, at now: Timestamp
    ) throws -> (absorbed: User, token: MergeTokenState) {
        guard let token else { throw Failure.invalidMergeToken }
        // Whoever repeats a merge without an Idempotency-Key learns that it was done: the token's user is absorbed then.
        if token.isUsed { throw Failure.mergeTokenConsumed }
        guard let user, user.deletedAt == nil, !linked.contains(user.id) else { throw Failure.invalidMergeToken }
        if token.expiresAt <= now { throw Failure.mergeTokenExpired }
        if user.id == requester.id { throw Failure.selfMergeForbidden }
        return (user, token)
    }

    /// - Parameter user: whom a right code stands for. Codes go to live users other than their requester.
    private func check(_ user: User?, _ linked: Set<User.ID>, for requester: User) throws -> User {
        guard let user, user.deletedAt == nil, !linked.contains(user.id), user.id != requester.id else {
            throw Failure.invalidOTP
        }
        return user
    }
}

extension Connection {
    /// The user that a proof is for, if the proof is good. Reads without a lock.
    fileprivate func user(provenBy proof: Merge.Proof) throws -> User.ID? {
        switch proof {
        case .sessionToken(let text): try mergeToken(text)?.user
        case .otp(_, let target): try mailableUser(target)?.id
        }
    }
}
