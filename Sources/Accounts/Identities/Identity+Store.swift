import IdentityTokens
import JSON
import MariaDB
import OpenSSL
import Time

extension Connection {
    /// The holder of (provider, subject), read without a lock. Before you rely on it, lock the users and read again.
    func holder(of provider: Provider, _ subject: String) throws -> IdentityHolder? {
        try first(
            """
            SELECT i.user_id, COALESCE(l.primary_user_id, i.user_id), i.consented_at, r.id
            FROM identities i LEFT JOIN identity_links l ON l.linked_user_id = i.user_id
            LEFT JOIN apple_revocations r ON r.sub_digest = ?
            WHERE i.provider = ? AND i.sub = ? LIMIT 1
            """, sha256(subject.utf8), provider.rawValue, subject
        ) { row in
            IdentityHolder(
                user: try row.read(), canonical: try row.read(), consentedAt: try row.read(),
                hasWaitingGrants: try row.read(AppleRevocation.ID?.self) != nil)
        }
    }

    /// The same, and whether a user has a PAK that is not revoked.
    func holder(
        of token: IdentityToken, and pak: PAK.ID, of user: User.ID
    ) throws -> (isLive: Bool, holder: IdentityHolder?) {
        try first(
            """
            SELECT p.id IS NOT NULL, i.user_id, COALESCE(l.primary_user_id, i.user_id), i.consented_at, r.id
            FROM (SELECT 1) always
            LEFT JOIN paks p ON p.id = ? AND p.user_id = ? AND p.revoked_at IS NULL
            LEFT JOIN identities i ON i.provider = ? AND i.sub = ?
            LEFT JOIN identity_links l ON l.linked_user_id = i.user_id
            LEFT JOIN apple_revocations r ON r.sub_digest = ?
            LIMIT 1
            """, pak, user, token.provider.rawValue, token.subject, sha256(token.subject.utf8)
        ) { row in
            (isLive: try row.read(), holder: try IdentityHolder(ifIn: &row))
        } ?? (false, nil)
    }

    /// The same, and a PAK that is not revoked, with the user whose it is; nil if there is no such PAK.
    func holder(
        of token: IdentityToken, andPAK digest: [UInt8]
    ) throws -> (pak: LivePAK, user: User.ID, holder: IdentityHolder?)? {
        try first(
            """
            SELECT p.id, p.device_id, p.application_id, p.scopes, p.created_at, p.user_id,
                   i.user_id, COALESCE(l.primary_user_id, i.user_id), i.consented_at, r.id
            FROM paks p
            LEFT JOIN identities i ON i.provider = ? AND i.sub = ?
            LEFT JOIN identity_links l ON l.linked_user_id = i.user_id
            LEFT JOIN apple_revocations r ON r.sub_digest = ?
            WHERE p.digest = ? AND p.revoked_at IS NULL LIMIT 1
            """, token.provider.rawValue, token.subject, sha256(token.subject.utf8), digest
        ) { row in
            (pak: try LivePAK(from: &row), user: try row.read(), holder: try IdentityHolder(ifIn: &row))
        }
    }

    /// The canonical user of the live user with this login_email, and whether an authoritative provider vouched for it.
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

extension IdentityHolder {
    /// - Parameter row: its four columns, which an outer join leaves empty if nobody holds the identity.
    fileprivate init?(ifIn row: inout Row) throws {
        let (user, canonical) = (try row.read(User.ID?.self), try row.read(User.ID?.self))
        let (consentedAt, waiting) = (try row.read(Timestamp?.self), try row.read(AppleRevocation.ID?.self))
        guard let user, let canonical else { return nil }
        self.init(user: user, canonical: canonical, consentedAt: consentedAt, hasWaitingGrants: waiting != nil)
    }
}

extension AccountsTransaction {
    /// Links the token's identity. If two transactions link the same subject, one gets a duplicate key and runs again.
    func insertIdentity(_ token: IdentityToken, for user: User.ID) throws {
        let apple = token.provider == .apple ? token.issuedAt : nil
        try connection.execute(
            """
            INSERT INTO identities (user_id, provider, sub, email, email_verified, email_authoritative, linked_at,
                                    consented_at, forwarding_changed_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, user, token.provider.rawValue, token.subject, EmailAddress.present(token.email), token.emailVerified,
            token.loginEmail?.isAuthoritative ?? false, now, apple, apple)
        audit(.identityLinked, user: user, actor: .user(user), ["provider": .string(token.provider.rawValue)])
    }

    /// Stores the address that a linked identity vouches for now, so that unlinking the identity also removes the
    /// address.
    func rememberAddress(of token: IdentityToken) throws {
        try connection.execute(
            """
            UPDATE identities SET email = ?, email_verified = TRUE, email_authoritative = ?
            WHERE provider = ? AND sub = ?
            """, token.verifiedEmail, token.loginEmail?.isAuthoritative ?? false, token.provider.rawValue,
            token.subject)
    }

    /// Marks the login_email of an absorbed account of the user as authoritative.
    ///
    /// - Returns: whether an absorbed account has the address and was not marked before.
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
