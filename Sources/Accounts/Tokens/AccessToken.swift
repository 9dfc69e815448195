package import MariaDB
import Time

/// A valid access token, with its subject.
package struct AccessToken: Sendable {
    package let signed: SignedAccessToken
    package let application: Application.ID
    package let isFirstParty: Bool
    package let subject: Subject

    package var scopes: Scopes { signed.scopes }
}

extension Accounts {
    /// Checks the signature and the issuer; nil if it is not an access token of this server.
    func read(_ token: String, _ connection: Connection) throws -> SignedAccessToken? {
        guard let signed = try signingKeys.verifiedToken(token, connection),
            signed.issuer.utf8.elementsEqual(settings.issuer.utf8)
        else { return nil }
        return signed
    }

    /// Returns a valid access token. Checks the token itself first, then reads its revocation state and its subject in
    /// one statement.
    ///
    /// - Throws: `invalidToken` if the token is not from this server, is expired, or is revoked; if its family or grant
    ///   is revoked; if its application is not active; or if its user is deleted.
    package func checkAccessToken(_ token: String, _ connection: Connection) throws -> AccessToken {
        guard let signed = try read(token, connection), let token = try check(signed, connection) else {
            throw Failure.invalidToken
        }
        return token
    }

    /// Nil if the token is not valid any more.
    func check(_ signed: SignedAccessToken, _ connection: Connection) throws -> AccessToken? {
        guard clock.now < signed.expiresAt else { return nil }
        return try connection.accessToken(signed)
    }
}

extension Connection {
    /// Nil if the token, its family or its grant is revoked, its application is not active, or its user is deleted.
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
