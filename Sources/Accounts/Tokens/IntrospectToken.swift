package import MariaDB
package import Time

/// What its own relying party may learn about a valid token (RFC 7662 §2.2).
package struct Introspection: Sendable {
    package enum Kind: Sendable {
        /// - Parameter jti: the token's `jti`.
        case accessToken(jti: String)
        case refreshToken
    }

    package let kind: Kind
    package let scopes: Scopes
    package let subject: Subject
    package let issuedAt: Timestamp
    package let expiresAt: Timestamp
}

extension Accounts {
    /// Looks a token up with one read. Nil if it is not a token of the application, or is not valid any more.
    package func introspect(
        _ token: String, for application: Application, _ connection: Connection
    ) throws -> Introspection? {
        guard let signed = try read(token, connection) else {
            return try connection.refreshToken(Secret(presented: token).digest, of: application.id, at: clock.now)
        }
        guard let token = try check(signed, connection), token.application == application.id else { return nil }
        return Introspection(
            kind: .accessToken(jti: signed.jti), scopes: signed.scopes, subject: token.subject,
            issuedAt: signed.issuedAt, expiresAt: signed.expiresAt)
    }
}

extension Connection {
    /// The current refresh token of a family of the application, if it can be used now.
    fileprivate func refreshToken(
        _ digest: [UInt8], of application: Application.ID, at now: Timestamp
    ) throws -> Introspection? {
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
}
