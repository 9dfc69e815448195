import ErrorCodes
import JSON
import MariaDB
import OpenSSL
import Text
import Time

extension Accounts {
    /// Issues new tokens for a refresh token, and retires it (accounts §2.6).
    ///
    /// Only the family's row is locked. For thirty seconds the last retired token gets the same answer again, so that a
    /// lost answer or two simultaneous refreshes do not end the session. With the key of its rotation it gets that answer
    /// for a day (accounts §3.8). An older token revokes the family.
    ///
    /// The client of a current token is read with its subject, and not before: whoever has a token waits for its family's
    /// lock, also without the client's secret.
    ///
    /// - Throws: `invalid_client`, as `authenticateClient` does, before anything is changed.
    package func refresh(
        _ request: RefreshRequest, by credentials: ClientCredentials, in transaction: AccountsTransaction
    ) throws -> TokenOutcome {
        let token = Secret(presented: request.token)
        let keyDigest = request.key?.digest(with: token)
        let state = try transaction.lockFamily(ofToken: token.digest, withKey: keyDigest)
        if let state, state.isCurrent(token, at: transaction.now),
            let scopes = try? request.scopes(of: state.family),
            let (subject, client) = try transaction.connection.subjectAndClient(of: state.family.grant),
            client.clientID.hasSameBytes(as: credentials.clientID)
        {
            try client.check(credentials, at: clock.now)
            let successor = Secret(.plain)
            let (response, activity) = try tokenResponse(
                state.family, scopes, of: subject, for: client.clientID, refreshToken: successor, nonce: nil,
                in: transaction)
            let answer = response.json()
            try transaction.rotate(
                state.family, to: successor, sealedAnswer: serverKey.seal(answer, for: state.family.row),
                scope: request.scope, keyDigest: keyDigest)
            return .issued(
                body: answer, activity: activity, hasScopeDrift: client.hasScopeDrift(at: transaction.now))
        }
        let application = try authenticateClient(credentials, transaction.connection)
        return try repeatOrRefuse(request, token, keyDigest, state, by: application, in: transaction)
    }

    /// The answer to whatever is not a current token of the client with scopes that it may have.
    private func repeatOrRefuse(
        _ request: RefreshRequest, _ token: Secret, _ keyDigest: [UInt8]?, _ state: FamilyState?,
        by application: Application, in transaction: AccountsTransaction
    ) throws -> TokenOutcome {
        guard let state, state.isLive,
            try transaction.connection.application(of: state.family.grant) == application.id
        else {
            return .refused(.unknownRefreshToken)
        }
        func repeated(_ sealed: [UInt8]) throws -> TokenOutcome {
            .issued(
                body: try serverKey.open(sealed, for: state.family.row), activity: nil,
                hasScopeDrift: application.hasScopeDrift(at: transaction.now))
        }

        if let keyDigest,
            let sealed = state.answer(to: token, withKey: keyDigest, scope: request.scope, at: transaction.now)
        {
            // Within a day a grant can end in more ways than by its families.
            guard try transaction.connection.subject(of: state.family.grant) != nil else {
                return .refused(.unknownRefreshToken)
            }
            return try repeated(sealed)
        }
        guard transaction.now < state.tokenExpiresAt else { return .refused(.unknownRefreshToken) }
        // The clean-up of the release before may have erased the answer early. Whoever has the key is no thief.
        if let keyDigest, state.hasLostAnswer(to: token, withKey: keyDigest, at: transaction.now) {
            return .refused(.unknownRefreshToken)
        }
        if token.digest != state.currentDigest {
            if let sealed = state.answer(to: token, scope: request.scope, at: transaction.now) {
                return try repeated(sealed)
            }
            try revoke(state.family.id, of: state.family.grant, application, because: .refreshReuse, in: transaction)
            return .refused(OAuthError(.invalidGrant, "the refresh token was already used; its family is revoked"))
        }
        do throws(OAuthError) { _ = try request.scopes(of: state.family) } catch { return .refused(error) }
        // The token is current, but what it was granted for has ended.
        return .refused(.unknownRefreshToken)
    }
}

extension Connection {
    fileprivate func application(of grant: Grant.ID) throws -> Application.ID? {
        try first("SELECT application_id FROM grants WHERE id = ?", grant) { row in try row.read() }
    }
}

/// What a client asks with a refresh token (RFC 6749 §6).
package struct RefreshRequest: Sendable {
    let token: String
    /// At most what was granted; nil for all of it.
    let scope: String?
    /// The request's Idempotency-Key.
    let key: RefreshKey?

    package init(token: String, scope: String?, key: RefreshKey?) {
        self.token = token
        self.scope = scope
        self.key = key
    }

    /// - Throws: `invalid_scope`.
    fileprivate func scopes(of family: TokenFamily) throws(OAuthError) -> Scopes {
        let scopes = try scope.map { text throws(OAuthError) in try Scopes(requested: text) } ?? family.scopes
        guard !scopes.isEmpty, scopes.isCovered(by: family.scopes) else {
            throw OAuthError(.invalidScope, "scope must not exceed the granted scopes")
        }
        return scopes
    }
}

extension FamilyState {
    /// Whether the token is the one that its family has now.
    fileprivate func isCurrent(_ token: Secret, at now: Timestamp) -> Bool {
        isLive && token.digest == currentDigest && now < tokenExpiresAt
    }

    /// The sealed answer that retired the token, for as long as its immediate predecessor gets it without a key.
    fileprivate func answer(to token: Secret, scope: String?, at now: Timestamp) -> [UInt8]? {
        guard let answerExpiresAt, now <= answerExpiresAt else { return nil }
        return answer(to: token, scope: scope)
    }

    /// The same, for as long as it gets it with the key of its rotation: also when the token itself has expired meanwhile.
    fileprivate func answer(
        to token: Secret, withKey keyDigest: [UInt8], scope: String?, at now: Timestamp
    ) -> [UInt8]? {
        guard let answerKeyExpiresAt, now <= answerKeyExpiresAt, let answerKeyDigest,
            constantTimeEqual(keyDigest, answerKeyDigest)
        else { return nil }
        return answer(to: token, scope: scope)
    }

    /// Whether the answer should be there for this token and key, but is not.
    fileprivate func hasLostAnswer(to token: Secret, withKey keyDigest: [UInt8], at now: Timestamp) -> Bool {
        guard sealedAnswer == nil, token.digest == predecessorDigest, let answerKeyDigest, let answerKeyExpiresAt else {
            return false
        }
        return now <= answerKeyExpiresAt && constantTimeEqual(keyDigest, answerKeyDigest)
    }

    private func answer(to token: Secret, scope: String?) -> [UInt8]? {
        token.digest == predecessorDigest && answeredScope == scope ? sealedAnswer : nil
    }
}

extension OAuthError {
    fileprivate static let unknownRefreshToken = OAuthError(
        .invalidGrant, "unknown, expired or revoked refresh token")
}
