import MariaDB
import OpenSSL
package import Time

/// The tokens of one authorization: a chain of refresh tokens, of which one is current, and the access tokens issued
/// with them (accounts §2.6).
package struct TokenFamily: Sendable {
    package typealias ID = Identifier<TokenFamily>

    package var id: ID
    package var grant: Grant.ID
    /// 16 random bytes with which every `jti` of the family begins.
    var handle: [UInt8]
    package var scopes: Scopes
    package var authenticatedAt: Timestamp
    /// Of the web session that it began in.
    var sid: SessionID?

    /// The lifetime of a refresh token, counted from its own issue.
    package static let refreshTokenLifetime = Duration.seconds(30 * 86_400)
    package static let accessTokenLifetime = Duration.seconds(900)
    /// How long a retired token gets the last answer again.
    package static let grace = Duration.seconds(30)
}

extension TokenFamily {
    /// The identity that the last answer is sealed for.
    var row: [UInt8] { Self.row(id) }

    static func row(_ id: ID) -> [UInt8] { Array("refresh_family:\(id.rawValue)".utf8) }
}

/// The state of the family that a presented token belongs to.
struct FamilyState {
    var family: TokenFamily
    var isLive: Bool
    var currentDigest: [UInt8]?
    var predecessorDigest: [UInt8]?
    var sealedAnswer: [UInt8]?
    var answerExpiresAt: Timestamp?
    var answeredScope: String?
    var answerKeyDigest: [UInt8]?
    var answerKeyExpiresAt: Timestamp?
    /// When the presented token expires.
    var tokenExpiresAt: Timestamp
}

extension AccountsTransaction {
    /// - Parameter fromAnonymous: see `AccessToken`.
    func insertFamily(
        _ grant: Grant.ID, _ scopes: Scopes, authenticatedAt: Timestamp, fromAnonymous: Bool?, sid: SessionID?,
        current: Secret
    ) throws -> TokenFamily {
        let handle = randomBytes(16)
        let expiresAt = now + TokenFamily.refreshTokenLifetime
        let outcome = try connection.execute(
            """
            INSERT INTO refresh_families
                (grant_id, handle, scopes, authenticated_at, from_anonymous, sid, current_digest, current_expires_at,
                 created_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, grant, handle, scopes.text, authenticatedAt, fromAnonymous, sid, current.digest, expiresAt, now)
        let id = TokenFamily.ID(rawValue: Int64(outcome.lastInsertID))
        try insertRefreshToken(current, of: id, expiresAt: expiresAt)
        return TokenFamily(
            id: id, grant: grant, handle: handle, scopes: scopes, authenticatedAt: authenticatedAt, sid: sid)
    }

    /// Nil if no family has or had this token.
    ///
    /// - Parameter keyDigest: the digest of the token and its key together. If the token has expired, it finds the answer.
    func lockFamily(ofToken digest: [UInt8], withKey keyDigest: [UInt8]?) throws -> FamilyState? {
        let found = try connection.first(Self.lockByToken.with(digest)) { row in try readFamily(&row) }
        if found == nil, let keyDigest {
            return try connection.first(Self.lockByKey.with(keyDigest)) { row in try readFamily(&row) } ?? nil
        }
        return found ?? nil
    }

    /// Without a lock on the token's row, which never changes; it can only be deleted.
    private static let lockByToken = ComposedSQL(
        select: familyColumns, "t.expires_at",
        from: """
            (SELECT refresh_family_id, expires_at FROM refresh_tokens WHERE digest = ?) t
            JOIN refresh_families f ON f.id = t.refresh_family_id FOR UPDATE
            """)

    private static let lockByKey = ComposedSQL(
        select: familyColumns, "NULL", from: "refresh_families f WHERE f.answer_key_digest = ? FOR UPDATE")

    private static let familyColumns: StaticString = """
        f.id, f.grant_id, f.handle, f.scopes, COALESCE(f.authenticated_at, f.created_at), f.sid, f.revoked_at IS NULL,
        f.current_digest, f.predecessor_digest, f.sealed_answer, f.answer_expires_at, f.answered_scope,
        f.answer_key_digest, f.answer_key_expires_at
        """

    /// Nil for a family of the first releases, which has no handle.
    private func readFamily(_ row: inout Row) throws -> FamilyState? {
        let (id, grant) = (try row.read(TokenFamily.ID.self), try row.read(Grant.ID.self))
        guard let handle = try row.read([UInt8]?.self) else { return nil }
        return FamilyState(
            family: TokenFamily(
                id: id, grant: grant, handle: handle, scopes: Scopes(try row.read()),
                authenticatedAt: try row.read(), sid: try row.read([UInt8]?.self).map(SessionID.init(bytes:))),
            isLive: try row.read(), currentDigest: try row.read(), predecessorDigest: try row.read(),
            sealedAnswer: try row.read(), answerExpiresAt: try row.read(), answeredScope: try row.read(),
            answerKeyDigest: try row.read(), answerKeyExpiresAt: try row.read(),
            tokenExpiresAt: try row.read(Timestamp?.self) ?? now)
    }

    /// Replaces the family's current token.
    ///
    /// - Parameter keyDigest: the digest of the replaced token and the key that came with it; nil if no key came.
    func rotate(
        _ family: TokenFamily, to successor: Secret, sealedAnswer: [UInt8], scope: String?, keyDigest: [UInt8]?
    ) throws {
        let expiresAt = now + TokenFamily.refreshTokenLifetime
        try insertRefreshToken(successor, of: family.id, expiresAt: expiresAt)
        try connection.executeLater(
            """
            UPDATE refresh_families
            SET predecessor_digest = current_digest, current_digest = ?, current_expires_at = ?,
                sealed_answer = ?, answer_expires_at = ?, answered_scope = ?, answer_key_digest = ?,
                answer_key_expires_at = ?
            WHERE id = ?
            """, successor.digest, expiresAt, sealedAnswer, now + TokenFamily.grace, scope, keyDigest,
            keyDigest.map { _ in now + RefreshKey.grace }, family.id)
    }

    private func insertRefreshToken(_ token: Secret, of family: TokenFamily.ID, expiresAt: Timestamp) throws {
        try connection.executeLater(
            "INSERT INTO refresh_tokens (digest, refresh_family_id, expires_at) VALUES (?, ?, ?)", token.digest, family,
            expiresAt)
    }
}
