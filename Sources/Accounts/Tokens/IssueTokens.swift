import ErrorCodes
import JOSE
import JSON
package import MariaDB
import OpenSSL
import Text
import Time

extension Accounts {
    /// Starts a family, and returns its first tokens.
    ///
    /// - Parameters:
    ///   - grant: locked.
    ///   - fromAnonymous: what the code or device code says.
    ///   - use: marks the code or device code as used.
    func issue(
        to application: Application, _ grant: Grant.ID, _ scopes: Scopes, authenticatedAt: Timestamp,
        fromAnonymous: Bool?, sid: SessionID? = nil, nonce: String?, in transaction: AccountsTransaction,
        use: (TokenFamily.ID) throws -> Void
    ) throws -> TokenOutcome {
        let refreshToken = Secret(.plain)
        let family = try transaction.insertFamily(
            grant, scopes, authenticatedAt: authenticatedAt, fromAnonymous: fromAnonymous, sid: sid,
            current: refreshToken)
        try use(family.id)
        guard
            let subject = try transaction.connection.subject(of: grant)
        else { throw OAuthError(.invalidGrant, "the authorization was revoked") }
        let (response, activity) = try tokenResponse(
            family, scopes, of: subject, for: application.clientID, refreshToken: refreshToken, nonce: nonce,
            in: transaction)
        return .issued(
            body: response.json(), activity: activity, hasScopeDrift: application.hasScopeDrift(at: transaction.now))
    }

    /// An access token and an id_token (accounts §2.7), with a new refresh token.
    ///
    /// - Parameters:
    ///   - scopes: the access token's, at most the family's.
    ///   - subject: that of the family's grant.
    ///   - nonce: from the authorize request; only in the answer to its code.
    func tokenResponse(
        _ family: TokenFamily, _ scopes: Scopes, of subject: Subject, for clientID: String, refreshToken: Secret,
        nonce: String?, in transaction: AccountsTransaction
    ) throws -> (TokenResponse, TokenActivity?) {
        let signer = try signingKeys.signer(transaction.connection)
        let issuedAt = transaction.now.seconds
        let lifetime = TokenFamily.accessTokenLifetime.components.seconds
        let common: Subject.Members = [
            ("iss", .string(settings.issuer)), ("sub", .string(subject.sub)), ("aud", .string(clientID)),
            ("exp", .integer(issuedAt + lifetime)), ("iat", .integer(issuedAt)),
        ]
        let accessToken = try signer.sign(
            JSONValue.object(
                JSONObject(
                    common + [
                        ("jti", .string(Base64URL.encode(family.handle + randomBytes(8)))),
                        ("client_id", .string(clientID)), ("scope", .string(scopes.text)),
                        ("canonical_sub", .string(subject.canonicalSub)),
                    ])), type: "at+jwt")
        var idToken: String?
        if scopes.contains("openid") {
            var claims = common
            claims += [
                ("auth_time", .integer(family.authenticatedAt.seconds)),
                ("jti", .string(Base64URL.encode(randomBytes(16)))),
            ]
            if let nonce { claims.append(("nonce", .string(nonce))) }
            if let sid = family.sid { claims.append(("sid", .string(sid.text))) }
            claims.append(("at_hash", .string(Base64URL.encode(Array(sha256(accessToken.utf8).prefix(16))))))
            subject.appendIdentityClaims(to: &claims)
            subject.appendScopedClaims(scopes, to: &claims)
            idToken = try signer.sign(JSONValue.object(JSONObject(claims)))
        }
        let response = TokenResponse(
            accessToken: accessToken, expiresIn: lifetime, scope: scopes.text, refreshToken: refreshToken.text,
            idToken: idToken)
        let anHourAgo = transaction.now - .seconds(3600)
        let isFresh = subject.lastActiveAt > anHourAgo && subject.lastUsedAt.map { $0 > anHourAgo } ?? false
        return (response, isFresh ? nil : TokenActivity(user: subject.canonical, grant: family.grant))
    }

    /// Records that a user and a grant were active. If a row is locked, nothing is written: the request must not wait
    /// for that.
    package func note(_ activity: TokenActivity, _ connection: Connection) throws {
        let now = clock.now
        try connection.execute(
            """
            SET STATEMENT innodb_lock_wait_timeout = 0 FOR
            UPDATE users u JOIN grants g ON g.id = ? SET u.last_active_at = ?, g.last_used_at = ? WHERE u.id = ?
            """, activity.grant, now, now, activity.user)
    }
}
