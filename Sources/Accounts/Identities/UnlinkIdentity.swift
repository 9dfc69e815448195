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
        var (user, _) = try transaction.lockCaller(caller)
        let identities = try connection.identities(of: user.id)
        let removed = identities.filter { $0.provider == provider }
        let remaining = identities.filter { $0.provider != provider }
        if removed.isEmpty { throw Failure.identityNotConnected }
        if remaining.isEmpty { throw Failure.lastIdentity }

        for absorbed in try transaction.lockAbsorbedUsers(of: user.id) + [user] {
            guard let email = absorbed.loginEmail else { continue }
            let rest = email.without(removed, remaining)
            if rest == email { continue }
            try connection.execute(
                """
                UPDATE users SET version = version + 1, login_email = ?, login_email_authoritative = ? WHERE id = ?
                """, rest?.address, rest?.isAuthoritative ?? false, absorbed.id)
            if absorbed.id == user.id { user.loginEmail = rest }
        }
        try connection.execute("DELETE FROM identities WHERE user_id = ? AND provider = ?", user.id, provider)
        transaction.audit(
            .identityUnlinked, user: user.id, actor: caller.actor, ["provider": .string(provider)])
        return (user, remaining)
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

extension AccountsTransaction {
    /// Only a merge into the survivor writes absorbed users, and the survivor is locked. A repeated merge may lock both in
    /// the other order; then one of the two transactions is repeated.
    fileprivate func lockAbsorbedUsers(of survivor: User.ID) throws -> [User] {
        let sql = ComposedSQL(
            select: User.columns,
            from: """
                users u WHERE u.id IN (SELECT linked_user_id FROM identity_links WHERE primary_user_id = ?)
                ORDER BY u.id FOR UPDATE
                """, survivor)
        return try connection.all(sql) { row in try User(from: &row) }
    }
}
