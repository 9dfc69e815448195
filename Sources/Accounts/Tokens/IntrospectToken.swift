package import MariaDB
import Text
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
    package let sub: String
    package let canonicalSub: String
    package let issuedAt: Timestamp
    package let expiresAt: Timestamp
}

extension Accounts {
    /// Authenticates a client that has a secret, and looks up an access token of its own, with one read. Nil if there is no
    /// such token that is valid: then nobody was authenticated.
    ///
    /// - Throws: `invalid_client`, as `authenticateClient` does.
    package func introspect(
        _ token: String, by credentials: ClientCredentials, _ connection: Connection
    ) throws -> Introspection? {
        guard let signed = try read(token, connection), clock.now < signed.expiresAt,
            let found = try connection.token(signed, of: credentials.clientID)
        else { return nil }
        try found.secrets.check(credentials, of: .confidential, at: clock.now)
        guard let subject = found.subject else { return try check(signed, connection).map(Introspection.init(_:)) }
        return Introspection(signed, sub: subject.sub, canonicalSub: subject.canonicalSub)
    }

    /// Looks a token up with one read. Nil if it is not a token of the application, or is not valid any more.
    package func introspect(
        _ token: String, for application: Application, _ connection: Connection
    ) throws -> Introspection? {
        guard let signed = try read(token, connection) else {
            return try connection.refreshToken(Secret(presented: token).digest, of: application.id, at: clock.now)
        }
        guard let token = try check(signed, connection), token.application == application.id else { return nil }
        return Introspection(token)
    }
}

extension Introspection {
    fileprivate init(_ token: AccessToken) {
        self.init(token.signed, sub: token.subject.sub, canonicalSub: token.subject.canonicalSub)
    }

    fileprivate init(_ signed: SignedAccessToken, sub: String, canonicalSub: String) {
        self.init(
            kind: .accessToken(jti: signed.jti), scopes: signed.scopes, sub: sub, canonicalSub: canonicalSub,
            issuedAt: signed.issuedAt, expiresAt: signed.expiresAt)
    }
}

/// A live access token with the confidential client that it was issued to.
private struct ClientToken {
    let secrets: ClientSecrets
    /// Nil if the user has merged accounts, who may be another one then, and deleted; or if tokens of the family were revoked
    /// alone.
    let subject: (sub: String, canonicalSub: String)?
}

extension Connection {
    /// Nil if it is not a token of that client, or not valid any more, as in `check`.
    fileprivate func token(_ signed: SignedAccessToken, of clientID: String) throws -> ClientToken? {
        let found = try first(
            """
            SELECT a.secret_digest, a.previous_secret_digest, a.previous_secret_expires_at,
                   g.sub, u.id, u.has_merges OR f.has_revoked_tokens, a.client_id,
                   f.revoked_at IS NULL AND g.revoked_at IS NULL AND a.client_type = 'confidential' AND a.status = 'active'
                   AND (u.deleted_at IS NULL OR u.has_merges)
            FROM refresh_families f JOIN grants g ON g.id = f.grant_id JOIN applications a ON a.id = g.application_id
            JOIN users u ON u.id = g.user_id
            WHERE f.handle = ?
            """, signed.familyHandle
        ) { row in
            let secrets = try ClientSecrets(from: &row)
            let (sub, user) = (try row.read(String.self), try row.read(User.ID.self))
            let token = ClientToken(
                secrets: secrets, subject: try row.read(Bool.self) ? nil : (sub, String(user.rawValue)))
            return (token: token, clientID: try row.read(String.self), isLive: try row.read(Bool.self))
        }
        guard let found, found.isLive, found.clientID.hasSameBytes(as: clientID) else { return nil }
        return found.token
    }

    /// The current refresh token of a family of the application, if it can be used now.
    fileprivate func refreshToken(
        _ digest: [UInt8], of application: Application.ID, at now: Timestamp
    ) throws -> Introspection? {
        var sql = ComposedSQL(
            select: Subject.ownColumns, Subject.mergeColumns, "f.scopes, f.current_expires_at",
            from: "refresh_families f JOIN grants g ON g.id = f.grant_id ")
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
                kind: .refreshToken, scopes: scopes, sub: subject.sub, canonicalSub: subject.canonicalSub,
                issuedAt: expiresAt - TokenFamily.refreshTokenLifetime, expiresAt: expiresAt)
        }
    }
}
