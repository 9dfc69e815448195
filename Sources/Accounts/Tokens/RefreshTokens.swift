import ErrorCodes
import JSON
import Time

extension Accounts {
    /// Issues new tokens for a refresh token, and retires it (accounts §2.6).
    ///
    /// Only the family's row is locked. For thirty seconds the last retired token gets the same answer again, so that a
    /// lost answer or two simultaneous refreshes do not end the session. An older token revokes the family.
    ///
    /// - Parameter scope: the request's `scope`; at most what was granted.
    package func refresh(
        _ presented: String, scope: String?, by application: Application, in transaction: AccountsTransaction
    ) throws -> TokenOutcome {
        let token = Secret(presented: presented)
        guard let state = try transaction.lockFamily(ofToken: token.digest), state.application == application.id,
            state.isLive, transaction.now < state.tokenExpiresAt
        else { return .refused(.unknownRefreshToken) }

        if token.digest != state.currentDigest {
            if token.digest == state.predecessorDigest, let expiresAt = state.answerExpiresAt,
                transaction.now <= expiresAt, state.answeredScope == scope,
                let sealed = state.sealedAnswer
            {
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
            state.family, to: successor, sealedAnswer: serverKey.seal(answer, for: state.family.row), scope: scope)
        return .issued(body: answer, activity: activity)
    }
}

extension OAuthError {
    fileprivate static let unknownRefreshToken = OAuthError(
        .invalidGrant, "unknown, expired or revoked refresh token")
}
