import MariaDB
import Time

/// A row of authorization_codes.
struct StoredCode {
    var id: Int64
    var redirectURI: String
    var challenge: String
    var nonce: String?
    var scopes: Scopes
    var authenticatedAt: Timestamp
    /// Whether the account was anonymous when the code was issued; nil if a release before did not say.
    var fromAnonymous: Bool?
    /// Of the web session that it was issued in.
    var session: SessionHandle?
    var expiresAt: Timestamp
    var isUsed: Bool
    /// The family that was issued for the code.
    var family: TokenFamily.ID?
}

extension Connection {
    func grant(ofCode digest: [UInt8]) throws -> (grant: Grant.ID, application: Application.ID)? {
        try first(
            """
            SELECT g.id, g.application_id FROM authorization_codes c JOIN grants g ON g.id = c.grant_id
            WHERE c.digest = ?
            """, digest
        ) { row in (try row.read(), try row.read()) }
    }
}

extension AccountsTransaction {
    func lockCode(_ digest: [UInt8]) throws -> StoredCode? {
        try connection.first(
            """
            SELECT id, redirect_uri, code_challenge, nonce, scopes, COALESCE(authenticated_at, created_at),
                   from_anonymous, session_handle, expires_at, used_at IS NOT NULL, refresh_family_id
            FROM authorization_codes WHERE digest = ? FOR UPDATE
            """, digest
        ) { row in
            StoredCode(
                id: try row.read(), redirectURI: try row.read(), challenge: try row.read(), nonce: try row.read(),
                scopes: Scopes(try row.read()), authenticatedAt: try row.read(), fromAnonymous: try row.read(),
                session: try row.read([UInt8]?.self).map(SessionHandle.init(bytes:)), expiresAt: try row.read(),
                isUsed: try row.read(), family: try row.read())
        }
    }

    func useCode(_ code: StoredCode, for family: TokenFamily.ID) throws {
        try connection.execute(
            "UPDATE authorization_codes SET used_at = ?, refresh_family_id = ? WHERE id = ?", now, family, code.id)
    }
}
