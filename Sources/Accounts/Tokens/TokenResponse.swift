/// A successful token answer (RFC 6749 §5.1, OpenID Connect Core §3.1.3.3).
package struct TokenResponse: Encodable, Sendable {
    private let accessToken: String
    private let tokenType = "Bearer"
    /// In seconds.
    private let expiresIn: Int64
    private let scope: String
    private let refreshToken: String
    /// Present if and only if `openid` was granted.
    private let idToken: String?

    init(accessToken: String, expiresIn: Int64, scope: String, refreshToken: String, idToken: String?) {
        self.accessToken = accessToken
        self.expiresIn = expiresIn
        self.scope = scope
        self.refreshToken = refreshToken
        self.idToken = idToken
    }
}

/// The result of a token request. A refusal is committed too, because it may have revoked a family.
package enum TokenOutcome: Sendable {
    /// - Parameters:
    ///   - activity: set if it should be recorded.
    ///   - hasScopeDrift: whether the answer should warn the developer about dropped scopes (accounts §2.5).
    case issued(body: [UInt8], activity: TokenActivity?, hasScopeDrift: Bool)
    case refused(OAuthError)
}

/// The user and the grant that tokens were issued for. Their activity is recorded once an hour, outside the transaction
/// (accounts §0.6).
package struct TokenActivity: Sendable {
    var user: User.ID
    var grant: Grant.ID
}
