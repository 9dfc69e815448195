import IdentityTokens
import JSON
import MariaDB

extension Accounts {
    /// Removes the caller's identities of a provider. One must remain.
    ///
    /// A sign-in address that only they vouched for goes with them, the caller's own and those of accounts it absorbed:
    /// otherwise the next sign-in with the removed identity would link it again by its e-mail (accounts §1.8).
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

        let vouchedFor = verifiedAddresses(removed).subtracting(verifiedAddresses(remaining))
        for absorbed in try transaction.lockAbsorbedUsers(of: user.id) + [user] {
            if let address = absorbed.loginEmail, vouchedFor.contains(address) {
                try connection.execute(
                    "UPDATE users SET version = version + 1, login_email = NULL WHERE id = ?", absorbed.id)
                if absorbed.id == user.id { user.loginEmail = nil }
            }
        }
        try connection.execute("DELETE FROM identities WHERE user_id = ? AND provider = ?", user.id, provider)
        transaction.audit(
            .identityUnlinked, user: user.id, actor: caller.actor, ["provider": .string(provider)])
        return (user, remaining)
    }

    private func verifiedAddresses(_ identities: [Identity]) -> Set<String> {
        Set(identities.filter(\.emailVerified).compactMap { $0.email?.lowercased() })
    }
}

extension AccountsTransaction {
    /// Nobody but a merge into their survivor, which is locked, writes absorbed users, so locking them after it is safe.
    fileprivate func lockAbsorbedUsers(of survivor: User.ID) throws -> [User] {
        try connection.all(
            """
            SELECT id, anonymous, previously_anonymous, name, nickname, contact_email, login_email, role, created_at,
                   last_active_at, deleted_at, purge_at
            FROM users WHERE id IN (SELECT linked_user_id FROM identity_links WHERE primary_user_id = ?)
            ORDER BY id FOR UPDATE
            """, survivor
        ) { row in try User(from: &row) }
    }
}
