import MariaDB
import Time

extension Connection {
    /// Nil when the token, its family or its grant is revoked, its application not active or its user deleted.
    func accessToken(_ signed: SignedAccessToken) throws -> AccessToken? {
        var sql = ComposedSQL(Subject.columns)
        sql.append(", a.id, a.first_party FROM refresh_families f JOIN grants g ON g.id = f.grant_id ")
        sql.append(Subject.joins)
        sql.append(
            """
             WHERE f.handle = ? AND f.revoked_at IS NULL AND g.revoked_at IS NULL AND a.status = 'active'
               AND u.deleted_at IS NULL AND NOT EXISTS (SELECT 1 FROM revoked_access_tokens WHERE jti = ?)
            """, signed.familyHandle, signed.id)
        return try first(sql) { row in
            let subject = try Subject(from: &row)
            return AccessToken(
                signed: signed, application: try row.read(), isFirstParty: try row.read(), subject: subject)
        }
    }

    /// The current refresh token of an application's family, when it could be used now.
    func refreshToken(_ digest: [UInt8], of application: Application.ID, at now: Timestamp) throws -> Introspection? {
        var sql = ComposedSQL(Subject.columns)
        sql.append(
            """
            , f.scopes, f.current_expires_at
            FROM refresh_families f JOIN grants g ON g.id = f.grant_id 
            """)
        sql.append(Subject.joins)
        sql.append(
            """
             WHERE f.id = (SELECT refresh_family_id FROM refresh_tokens WHERE digest = ?) AND f.current_digest = ?
               AND f.current_expires_at > ? AND f.revoked_at IS NULL AND g.application_id = ? AND g.revoked_at IS NULL
               AND u.deleted_at IS NULL
            """, digest, digest, now, application)
        return try first(sql) { row in
            let subject = try Subject(from: &row)
            let (scopes, expiresAt) = (Scopes(try row.read()), try row.read(Timestamp.self))
            return Introspection(
                kind: .refreshToken, scopes: scopes, subject: subject,
                issuedAt: expiresAt - TokenFamily.refreshTokenLifetime, expiresAt: expiresAt)
        }
    }

    /// The family that a refresh token, current or retired, belongs to, if the application has it.
    func family(ofToken digest: [UInt8], of application: Application.ID) throws -> TokenFamily.ID? {
        try first(
            """
            SELECT f.id FROM refresh_tokens t
            JOIN refresh_families f ON f.id = t.refresh_family_id JOIN grants g ON g.id = f.grant_id
            WHERE t.digest = ? AND g.application_id = ?
            """, digest, application
        ) { row in try row.read() }
    }

    /// The person behind a sub that the application has, or had, on a grant; nil also when the account is deleted.
    func subject(_ sub: String, at application: Application.ID) throws -> Subject? {
        guard sub.isASCII else { return nil }
        var sql = ComposedSQL(Subject.columns)
        sql.append(
            """
             FROM (SELECT application_id, sub, user_id, last_used_at FROM grants WHERE application_id = ? AND sub = ?
                   UNION ALL
                   SELECT application_id, sub, canonical_user_id, NULL FROM absorbed_subs
                   WHERE application_id = ? AND sub = ?
                   LIMIT 1) g 
            """, application, sub, application, sub)
        sql.append(Subject.joins)
        sql.append(" WHERE u.deleted_at IS NULL")
        return try first(sql) { row in try Subject(from: &row) }
    }
}

extension AccountsTransaction {
    func revoke(_ token: SignedAccessToken) throws {
        try connection.execute(
            """
            INSERT INTO revoked_access_tokens (jti, expires_at) VALUES (?, ?) ON DUPLICATE KEY UPDATE jti = VALUES(jti)
            """, token.id, token.expiresAt)
    }
}
