import IdentityTokens
import JSON
import MariaDB
import Time

extension Connection {
    /// Who holds (provider, subject), without a lock: whoever decides by it locks the users and asks again.
    func holder(of provider: Provider, _ subject: String) throws -> IdentityHolder? {
        try first(
            """
            SELECT i.user_id, COALESCE(l.primary_user_id, i.user_id)
            FROM identities i LEFT JOIN identity_links l ON l.linked_user_id = i.user_id
            WHERE i.provider = ? AND i.sub = ?
            """, provider.rawValue, subject
        ) { row in
            IdentityHolder(user: try row.read(), canonical: try row.read())
        }
    }

    /// The canonical user of whoever signs in with that address and is not deleted, and whether the address was vouched for
    /// by a provider with the last word on it.
    func canonicalUser(ofLoginEmail address: FoldedAddress) throws -> (id: User.ID, isAuthoritative: Bool)? {
        try first(
            """
            SELECT COALESCE(l.primary_user_id, u.id), u.login_email_authoritative
            FROM users u LEFT JOIN identity_links l ON l.linked_user_id = u.id WHERE u.live_login_email = ?
            """, address
        ) { row in (id: try row.read(), isAuthoritative: try row.read()) }
    }

    package func identities(of user: User.ID) throws -> [Identity] {
        try all(
            """
            SELECT id, provider, email, email_verified, email_authoritative, linked_at
            FROM identities WHERE user_id = ? ORDER BY id
            """, user
        ) { row in
            Identity(
                id: try row.read(), provider: try row.read(), email: EmailAddress.present(try row.read()),
                emailVerified: try row.read(), emailAuthoritative: try row.read(), linkedAt: try row.read())
        }
    }
}

extension AccountsTransaction {
    /// Links the token's identity. Two at once for one subject end in a duplicate key, and the transaction again.
    func insertIdentity(_ token: IdentityToken, for user: User.ID) throws {
        try connection.execute(
            """
            INSERT INTO identities (user_id, provider, sub, email, email_verified, email_authoritative, linked_at)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """, user, token.provider.rawValue, token.subject, EmailAddress.present(token.email), token.emailVerified,
            token.loginEmail?.isAuthoritative ?? false, now)
        audit(.identityLinked, user: user, actor: .user(user), ["provider": .string(token.provider.rawValue)])
    }

    /// Has the token's identity, linked before, tell the address that it vouches for now: removing it takes that along.
    func rememberAddress(of token: IdentityToken) throws {
        try connection.execute(
            """
            UPDATE identities SET email = ?, email_verified = TRUE, email_authoritative = ?
            WHERE provider = ? AND sub = ?
            """, token.verifiedEmail, token.loginEmail?.isAuthoritative ?? false, token.provider.rawValue,
            token.subject)
    }

    /// Has an address of an account that the user absorbed count as vouched for.
    ///
    /// - Returns: whether there was one that did not yet.
    func raiseAbsorbed(_ address: FoldedAddress, of user: User.ID) throws -> Bool {
        let absorbed = try connection.first(
            """
            SELECT u.id FROM users u JOIN identity_links l ON l.linked_user_id = u.id
            WHERE u.live_login_email = ? AND l.primary_user_id = ? AND NOT u.login_email_authoritative
            """, address, user
        ) { row in try row.read(User.ID.self) }
        guard let absorbed else { return false }
        try connection.execute(
            "UPDATE users SET version = version + 1, login_email_authoritative = TRUE WHERE id = ?", absorbed)
        return true
    }
}
