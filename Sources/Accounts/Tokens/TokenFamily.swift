package import Time

/// What one authorization is renewed by: a chain of refresh tokens, of which one is current, and the access tokens that
/// were issued with them (accounts §2.6).
package struct TokenFamily: Sendable {
    package typealias ID = Identifier<TokenFamily>

    package var id: ID
    package var grant: Grant.ID
    /// 16 random bytes that every jti of the family begins with.
    var handle: [UInt8]
    package var scopes: Scopes
    package var authenticatedAt: Timestamp

    /// A refresh token's, from its own issue.
    package static let refreshTokenLifetime = Duration.seconds(30 * 86_400)
    package static let accessTokenLifetime = Duration.seconds(900)
    /// How long the last answer is repeated for the token it retired.
    package static let grace = Duration.seconds(30)
}
