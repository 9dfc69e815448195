package import MariaDB
import Text
import Time

/// A valid access token, with its subject.
package struct AccessToken: Sendable {
    package let signed: SignedAccessToken
    package let application: Application.ID
    let isFirstParty: Bool
    /// Whether the account was anonymous when the token's family was authorized; nil if a release before did not say.
    let fromAnonymous: Bool?
    package let subject: Subject

    package var scopes: Scopes { signed.scopes }

    /// Whether it is exchanged for a full PAK (accounts §1.4). Whoever had a copy of an anonymous credential may have
    /// begun the family: it must not open what the account has become since by a promotion, a swap or a merge.
    package var opensAccount: Bool {
        isFirstParty && (subject.anonymous || !(fromAnonymous ?? subject.previouslyAnonymous))
    }
}

extension Accounts {
    /// Checks the signature and the issuer; nil if it is not an access token of this server.
    func read(_ token: String, _ connection: Connection) throws -> SignedAccessToken? {
        guard let signed = try signingKeys.verifiedToken(token, connection),
            signed.issuer.hasSameBytes(as: settings.issuer)
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
    /// Nil if the token, its family or its grant is revoked, its application is not active, or its user is deleted. That is a
    /// column of the usual statement: the optimizer would weigh each condition, for one row that is found anyway.
    fileprivate func accessToken(_ signed: SignedAccessToken) throws -> AccessToken? {
        let usual = try first(
            """
            SELECT g.sub, u.id, u.anonymous, u.name, u.nickname, u.contact_email, u.verified_addresses, u.phone_number, u.address,
                   u.postal_code, u.verified_level, u.custom_claims, a.linked_sub_details, u.last_active_at,
                   g.last_used_at, u.previously_anonymous, u.has_merges, a.id, a.first_party, f.from_anonymous,
                   f.has_revoked_tokens,
                   f.revoked_at IS NULL AND g.revoked_at IS NULL AND a.status = 'active'
                   AND (u.deleted_at IS NULL OR u.has_merges)
            FROM refresh_families f JOIN grants g ON g.id = f.grant_id JOIN applications a ON a.id = g.application_id
            JOIN users u ON u.id = g.user_id
            WHERE f.handle = ?
            """, signed.familyHandle
        ) { row in try UsualAccessToken(from: &row) }
        guard let usual, usual.isLive else { return nil }
        guard !usual.hasRevokedTokens, let subject = usual.subject.whole else { return try unusualAccessToken(signed) }
        return AccessToken(
            signed: signed, application: usual.application, isFirstParty: usual.isFirstParty,
            fromAnonymous: usual.fromAnonymous, subject: subject)
    }

    /// The same of a user who has merged accounts, or of a family with tokens that were revoked alone.
    private func unusualAccessToken(_ signed: SignedAccessToken) throws -> AccessToken? {
        var sql = ComposedSQL(
            select: Subject.ownColumns, Subject.mergeColumns, "a.id, a.first_party, f.from_anonymous",
            from: "refresh_families f JOIN grants g ON g.id = f.grant_id ")
        sql.append(Subject.joins)
        sql.append(
            """
             WHERE f.handle = ? AND f.revoked_at IS NULL AND g.revoked_at IS NULL AND a.status = 'active'
               AND u.deleted_at IS NULL AND NOT EXISTS (SELECT 1 FROM revoked_access_tokens WHERE jti = ?)
            """, signed.familyHandle, signed.id)
        return try first(sql) { row in
            let subject = try Subject(from: &row)
            return AccessToken(
                signed: signed, application: try row.read(), isFirstParty: try row.read(),
                fromAnonymous: try row.read(), subject: subject)
        }
    }
}

/// The row of the usual statement.
private struct UsualAccessToken {
    let subject: UsualSubject
    let application: Application.ID
    let isFirstParty: Bool
    let fromAnonymous: Bool?
    /// Whether tokens of its family were revoked alone. Never taken back.
    let hasRevokedTokens: Bool
    /// Also if the user is deleted, who has merged accounts: then it need not be the canonical one.
    let isLive: Bool

    init(from row: inout Row) throws {
        subject = try UsualSubject(from: &row)
        application = try row.read()
        isFirstParty = try row.read()
        fromAnonymous = try row.read()
        hasRevokedTokens = try row.read()
        isLive = try row.read()
    }
}
