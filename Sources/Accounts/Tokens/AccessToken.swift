package import MariaDB
import Time

/// An access token that stands, with the person behind it.
package struct AccessToken: Sendable {
    package let signed: SignedAccessToken
    package let application: Application.ID
    package let isFirstParty: Bool
    package let subject: Subject

    package var scopes: Scopes { signed.scopes }
}

extension Accounts {
    /// Nil for anything but an access token of this server.
    func read(_ token: String, _ connection: Connection) throws -> SignedAccessToken? {
        guard let signed = try signingKeys.signedToken(token, connection),
            signed.issuer.utf8.elementsEqual(settings.issuer.utf8)
        else { return nil }
        return signed
    }

    /// The access token, if it stands: checked by itself first, then by one read, which brings the person along.
    ///
    /// - Throws: `invalidToken` when it is none of ours or has expired, or when it, its family, its grant, its application
    ///   or its user is revoked.
    package func checkAccessToken(_ token: String, _ connection: Connection) throws -> AccessToken {
        guard let signed = try read(token, connection), let token = try check(signed, connection) else {
            throw Failure.invalidToken
        }
        return token
    }

    /// Nil when it stands no longer.
    func check(_ signed: SignedAccessToken, _ connection: Connection) throws -> AccessToken? {
        guard clock.now < signed.expiresAt else { return nil }
        return try connection.accessToken(signed)
    }
}

extension Connection {
    /// Nil when the token, its family or its grant is revoked, its application not active or its user deleted.
    fileprivate func accessToken(_ signed: SignedAccessToken) throws -> AccessToken? {
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
}
