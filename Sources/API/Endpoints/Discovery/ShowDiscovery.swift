import Accounts
import HTTP

/// The OpenID configuration, from which clients configure themselves (OpenID Connect Discovery 1.0 §3, RFC 8414 §2,
/// accounts §2.10).
struct DiscoveryDocument: Encodable {
    private let issuer: String
    private let authorizationEndpoint: String
    private let tokenEndpoint: String
    private let userinfoEndpoint: String
    private let jwksURI: String
    private let revocationEndpoint: String
    private let introspectionEndpoint: String
    private let deviceAuthorizationEndpoint: String
    private let endSessionEndpoint: String
    private let backchannelLogoutSupported = true
    /// Logout tokens have the claim `sid`.
    private let backchannelLogoutSessionSupported = true
    private let responseTypesSupported = ["code"]
    private let responseModesSupported = ["query"]
    private let grantTypesSupported = [
        "authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code",
    ]
    private let subjectTypesSupported = ["public"]
    private let idTokenSigningAlgValuesSupported = ["RS256"]
    private let tokenEndpointAuthMethodsSupported = ["client_secret_basic", "client_secret_post", "none"]
    private let revocationEndpointAuthMethodsSupported = ["client_secret_basic", "client_secret_post", "none"]
    /// Only of clients that have a secret.
    private let introspectionEndpointAuthMethodsSupported = ["client_secret_basic", "client_secret_post"]
    private let codeChallengeMethodsSupported = ["S256"]
    private let scopesSupported = Scopes.standard
    private let claimsSupported = [
        "iss", "sub", "aud", "exp", "iat", "auth_time", "jti", "nonce", "at_hash", "sid", "canonical_sub",
        "is_canonical", "linked_subs", "anonymous", "previously_anonymous", "email", "email_verified", "preferred_name",
        "full_name", "phone_number", "address", "postal_code", "identity_verified_level",
    ]
    private let promptValuesSupported = ["none", "login", "consent", "select_account"]
    /// True where it is missing.
    private let requestURIParameterSupported = false

    init(issuer: String) {
        self.issuer = issuer
        authorizationEndpoint = "\(issuer)/oauth/authorize"
        tokenEndpoint = "\(issuer)/oauth/token"
        userinfoEndpoint = "\(issuer)/oauth/userinfo"
        jwksURI = "\(issuer)/.well-known/jwks.json"
        revocationEndpoint = "\(issuer)/oauth/revoke"
        introspectionEndpoint = "\(issuer)/oauth/introspect"
        deviceAuthorizationEndpoint = "\(issuer)/oauth/device_authorization"
        endSessionEndpoint = "\(issuer)/oauth/logout"
    }
}

/// `GET /.well-known/openid-configuration` (accounts §2.10). The answer does not change while the process runs.
@Sendable func showDiscovery(_ call: Call, _: Anyone) -> Response { .publicDocument(call.service.discovery) }
