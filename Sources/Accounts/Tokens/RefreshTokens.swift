import ErrorCodes
import JSON
import OpenSSL
import Time

extension Accounts {
    /// Issues new tokens for a refresh token, and retires it (accounts §2.6).
    ///
    /// Only the family's row is locked. For thirty seconds the last retired token gets the same answer again, so that a
    /// lost answer or two simultaneous refreshes do not end the session. With the key of its rotation it gets that answer
    /// for a day (accounts §3.8). An older token revokes the family.
    ///
    /// - Parameters:
    ///   - scope: the request's `scope`; at most what was granted.
    ///   - key: the request's Idempotency-Key.
    package func refresh(
        _ presented: String, scope: String?, key: RefreshKey?, by application: Application,
        in transaction: AccountsTransaction
    ) throws -> TokenOutcome {
        let token = Secret(presented: presented)
        let keyDigest = key?.digest(with: token)
        guard let state = try transaction.lockFamily(ofToken: token.digest, withKey: keyDigest),
            state.application == application.id, state.isLive
        else { return .refused(.unknownRefreshToken) }

        if let keyDigest, let sealed = state.answer(to: token, withKey: keyDigest, scope: scope, at: transaction.now) {
            // Within a day a grant can end in more ways than by its families.
            guard try transaction.connection.subject(of: state.family.grant, withAddresses: false) != nil else {
                return .refused(.unknownRefreshToken)
            }
            return .issued(body: try serverKey.open(sealed, for: state.family.row), activity: nil)
        }
        guard transaction.now < state.tokenExpiresAt else { return .refused(.unknownRefreshToken) }
        // The clean-up of the release before may have erased the answer early. Whoever has the key is no thief.
        if let keyDigest, state.hasLostAnswer(to: token, withKey: keyDigest, at: transaction.now) {
            return .refused(.unknownRefreshToken)
        }
        if token.digest != state.currentDigest {
            if let sealed = state.answer(to: token, scope: scope, at: transaction.now) {
                return .issued(body: try serverKey.open(sealed, for: state.family.row), activity: nil)
            }
            try revoke(state.family.id, of: state.family.grant, application, because: .refreshReuse, in: transaction)
            return .refused(OAuthError(.invalidGrant, "the refresh token was already used; its family is revoked"))
        }

        let scopes: Scopes
        do throws(OAuthError) {
            scopes = try scope.map { text throws(OAuthError) in try Scopes(requested: text) } ?? state.family.scopes
        } catch {
            return .refused(error)
        }
        guard !scopes.isEmpty, scopes.isCovered(by: state.family.scopes) else {
            return .refused(OAuthError(.invalidScope, "scope must not exceed the granted scopes"))
        }
        let successor = Secret(.plain)
        guard
            let (response, activity) = try tokenResponse(
                state.family, scopes, for: application, refreshToken: successor, nonce: nil, in: transaction)
        else { return .refused(.unknownRefreshToken) }
        let answer = response.json()
        try transaction.rotate(
            state.family, to: successor, sealedAnswer: serverKey.seal(answer, for: state.family.row), scope: scope,
            keyDigest: keyDigest)
        return .issued(body: answer, activity: activity)
    }
}

extension FamilyState {
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
