/// A successful token answer (RFC 6749 §5.1, OpenID Connect Core §3.1.3.3).
package struct TokenResponse: Encodable, Sendable {
    package let accessToken: String
    private let tokenType = "Bearer"
    /// Seconds.
    private let expiresIn: Int64
    private let scope: String
    package let refreshToken: String
    /// Exactly when `openid` was granted.
    private let idToken: String?

    init(accessToken: String, expiresIn: Int64, scope: String, refreshToken: String, idToken: String?) {
        self.accessToken = accessToken
        self.expiresIn = expiresIn
        self.scope = scope
        self.refreshToken = refreshToken
        self.idToken = idToken
    }

    private enum CodingKeys: String, CodingKey {
        case accessToken = "access_token"
        case tokenType = "token_type"
        case expiresIn = "expires_in"
        case scope
        case refreshToken = "refresh_token"
        case idToken = "id_token"
    }
}

/// What became of a token request. Both are committed: a refusal may have revoked a family.
package enum TokenOutcome: Sendable {
    /// The answer's body.
    case issued([UInt8])
    case refused(OAuthError)
}
