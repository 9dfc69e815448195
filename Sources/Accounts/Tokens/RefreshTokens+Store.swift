import MariaDB
import OpenSSL
import Time

/// A family as the token that was presented finds it.
struct FamilyState {
    var family: TokenFamily
    var application: Application.ID
    var isLive: Bool
    var currentDigest: [UInt8]?
    var predecessorDigest: [UInt8]?
    var rotatedAt: Timestamp?
    var sealedAnswer: [UInt8]?
    var answeredScope: String?
    /// Of the presented token.
    var tokenExpiresAt: Timestamp
}

extension AccountsTransaction {
    func insertFamily(
        _ grant: Grant.ID, _ scopes: Scopes, authenticatedAt: Timestamp, current: Secret
    ) throws -> TokenFamily {
        let handle = randomBytes(16)
        let expiresAt = now + TokenFamily.refreshTokenLifetime
        let outcome = try connection.execute(
            """
            INSERT INTO refresh_families
                (grant_id, handle, scopes, authenticated_at, current_digest, current_expires_at, created_at)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """, grant, handle, scopes.text, authenticatedAt, current.digest, expiresAt, now)
        let id = TokenFamily.ID(rawValue: Int64(outcome.lastInsertID))
        try insertRefreshToken(current, of: id, expiresAt: expiresAt)
        return TokenFamily(id: id, grant: grant, handle: handle, scopes: scopes, authenticatedAt: authenticatedAt)
    }

    /// Nil for a token that no family has, or had.
    func lockFamily(ofToken digest: [UInt8]) throws -> FamilyState? {
        // The token's row never changes, so that reading it needs no lock.
        let found = try connection.first(
            "SELECT refresh_family_id, expires_at FROM refresh_tokens WHERE digest = ?", digest
        ) { row in (family: try row.read(TokenFamily.ID.self), expiresAt: try row.read(Timestamp.self)) }
        guard let found else { return nil }
        return try connection.first(
            """
            SELECT id, grant_id, (SELECT application_id FROM grants WHERE id = grant_id), handle, scopes,
                   COALESCE(authenticated_at, created_at), revoked_at IS NULL, current_digest, predecessor_digest,
                   rotated_at, sealed_answer, answered_scope
            FROM refresh_families WHERE id = ? AND handle IS NOT NULL FOR UPDATE
            """, found.family
        ) { row in
            let (id, grant, application) = (
                try row.read(TokenFamily.ID.self), try row.read(Grant.ID.self), try row.read(Application.ID.self)
            )
            return FamilyState(
                family: TokenFamily(
                    id: id, grant: grant, handle: try row.read(), scopes: Scopes(try row.read()),
                    authenticatedAt: try row.read()),
                application: application, isLive: try row.read(), currentDigest: try row.read(),
                predecessorDigest: try row.read(), rotatedAt: try row.read(), sealedAnswer: try row.read(),
                answeredScope: try row.read(), tokenExpiresAt: found.expiresAt)
        }
    }

    /// Retires the family's current token.
    func rotate(_ family: TokenFamily, to successor: Secret, sealedAnswer: [UInt8], scope: String?) throws {
        let expiresAt = now + TokenFamily.refreshTokenLifetime
        try insertRefreshToken(successor, of: family.id, expiresAt: expiresAt)
        try connection.execute(
            """
            UPDATE refresh_families
            SET predecessor_digest = current_digest, current_digest = ?, current_expires_at = ?, rotated_at = ?,
                sealed_answer = ?, answered_scope = ?
            WHERE id = ?
            """, successor.digest, expiresAt, now, sealedAnswer, scope, family.id)
    }

    private func insertRefreshToken(_ token: Secret, of family: TokenFamily.ID, expiresAt: Timestamp) throws {
        try connection.execute(
            "INSERT INTO refresh_tokens (digest, refresh_family_id, expires_at) VALUES (?, ?, ?)", token.digest, family,
            expiresAt)
    }
}
