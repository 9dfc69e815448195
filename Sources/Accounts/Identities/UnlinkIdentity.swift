import Database
import IdentityTokens
import JSON
import MariaDB

extension Accounts {
    /// Removes the caller's identities of a provider. At least one other identity must remain.
    ///
    /// A login_email that only these identities vouched for is removed too, from the caller and from accounts that it
    /// absorbed. Otherwise the next sign-in with the removed identity would link it again by its e-mail address
    /// (accounts §1.8).
    package func unlinkIdentities(
        of provider: String, from caller: Caller, in transaction: AccountsTransaction
    ) throws -> (User, [Identity]) {
        let connection = transaction.connection
        let absorbed = try connection.usersAbsorbed(by: caller.id)
        var (user, others) = try transaction.lockCaller(caller, and: absorbed)
        // Read again under the locks: a merge may have come between.
        guard try connection.usersAbsorbed(by: caller.id) == absorbed else { throw TransactionMustRestart() }
        let identities = try connection.identities(of: user.id)
        let removed = identities.filter { $0.provider == provider }
        let remaining = identities.filter { $0.provider != provider }
        if removed.isEmpty { throw Failure.identityNotConnected }
        if remaining.isEmpty { throw Failure.lastIdentity }

        others.append(user)
        try transaction.forgetAddresses(of: others, vouchedForBy: removed, remaining)
        user.loginEmail = user.loginEmail?.without(removed, remaining)
        if provider == Provider.apple.rawValue { try transaction.revokeAppleGrants(of: user.id) }
        try connection.execute("DELETE FROM identities WHERE user_id = ? AND provider = ?", user.id, provider)
        transaction.audit(
            .identityUnlinked, user: user.id, actor: caller.actor, ["provider": .string(provider)])
        return (user, remaining)
    }
}

extension AccountsTransaction {
    /// Removes the addresses, or their marks, that only removed identities vouched for.
    ///
    /// - Parameter holders: who had the identities, and those whom it absorbed; locked.
    func forgetAddresses(
        of holders: [User], vouchedForBy removed: [Identity], _ remaining: [Identity]
    ) throws {
        for holder in holders {
            guard let email = holder.loginEmail else { continue }
            let rest = email.without(removed, remaining)
            if rest == email { continue }
            try connection.execute(
                """
                UPDATE users SET version = version + 1, login_email = ?, login_email_authoritative = ? WHERE id = ?
                """, rest?.address, rest?.isAuthoritative ?? false, holder.id)
        }
    }
}

extension LoginEmail {
    /// What remains of the address after identities are removed: nil if only these vouched for it.
    fileprivate func without(_ removed: [Identity], _ remaining: [Identity]) -> LoginEmail? {
        let (gone, left) = (removed.filter(vouches), remaining.filter(vouches))
        if !gone.isEmpty && left.isEmpty { return nil }
        // A removed identity counts even if it has another address now: it may have had this one when it vouched.
        let isLowered = removed.contains(where: \.emailAuthoritative) && !left.contains(where: \.emailAuthoritative)
        return LoginEmail(address: address, isAuthoritative: isAuthoritative && !isLowered)
    }

    private func vouches(_ identity: Identity) -> Bool {
        identity.emailVerified && identity.email.map(FoldedAddress.init(_:)) == address
    }
}

extension Connection {
    /// In ascending order, without a lock. Only a merge into the survivor adds one.
    func usersAbsorbed(by survivor: User.ID) throws -> [User.ID] {
        try all(
            "SELECT linked_user_id FROM identity_links WHERE primary_user_id = ? ORDER BY linked_user_id", survivor
        ) { row in try row.read() }
    }
}
