import MariaDB
import Text
import Time

extension Accounts {
    /// Revokes a token for its relying party (RFC 7009). An access token is revoked alone, a refresh token with its
    /// family and all access tokens of the family. Unknown tokens and tokens of other applications are ignored.
    package func revoke(
        _ token: String, by application: Application, in transaction: AccountsTransaction
    ) throws {
        if let signed = try read(token, transaction.connection) {
            guard signed.clientID.hasSameBytes(as: application.clientID), transaction.now < signed.expiresAt
            else { return }
            try transaction.revoke(signed)
        } else if let family = try transaction.connection.family(
            ofToken: Secret(presented: token).digest, of: application.id)
        {
            _ = try transaction.revoke(family)
        }
    }
}

extension Connection {
    /// The family of a current or retired refresh token, if it belongs to the application.
    fileprivate func family(ofToken digest: [UInt8], of application: Application.ID) throws -> TokenFamily.ID? {
        try first(
            """
            SELECT f.id FROM refresh_tokens t
            JOIN refresh_families f ON f.id = t.refresh_family_id JOIN grants g ON g.id = f.grant_id
            WHERE t.digest = ? AND g.application_id = ?
            """, digest, application
        ) { row in try row.read() }
    }
}

extension AccountsTransaction {
    fileprivate func revoke(_ token: SignedAccessToken) throws {
        try connection.execute(
            """
            INSERT INTO revoked_access_tokens (jti, expires_at) VALUES (?, ?) ON DUPLICATE KEY UPDATE jti = VALUES(jti)
            """, token.id, token.expiresAt)
    }
}
