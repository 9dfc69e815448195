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

    /// The canonical user of whoever signs in with that address and is not deleted.
    func canonicalUser(ofLoginEmail address: String) throws -> User.ID? {
        try first(
            """
            SELECT COALESCE(l.primary_user_id, u.id)
            FROM users u LEFT JOIN identity_links l ON l.linked_user_id = u.id WHERE u.live_login_email = ?
            """, address
        ) { row in try row.read() }
    }

    package func identities(of user: User.ID) throws -> [Identity] {
        try all(
            "SELECT id, provider, email, email_verified, linked_at FROM identities WHERE user_id = ? ORDER BY id", user
        ) { row in
            Identity(
                id: try row.read(), provider: try row.read(), email: EmailAddress.present(try row.read()),
                emailVerified: try row.read(), linkedAt: try row.read())
        }
    }
}

extension AccountsTransaction {
    /// Links the token's identity. Two at once for one subject end in a duplicate key, and the transaction again.
    func insertIdentity(_ token: IdentityToken, for user: User.ID) throws {
        try connection.execute(
            """
            INSERT INTO identities (user_id, provider, sub, email, email_verified, linked_at) VALUES (?, ?, ?, ?, ?, ?)
            """, user, token.provider.rawValue, token.subject, EmailAddress.present(token.email), token.emailVerified,
            now)
        audit(.identityLinked, user: user, actor: .user(user), ["provider": .string(token.provider.rawValue)])
    }
}
