/// The operator's settings for a provider (accounts, Annex A).
package struct ProviderSettings: Equatable, Sendable {
    /// The accepted values of `iss`, compared byte for byte.
    package var issuers: [String]
    /// The URL of the key set: https, or plain http to this machine if `allowsLoopbackHTTP`.
    package var jwksURL: String
    /// The client ids that tokens may be issued to. If it is empty, no token is accepted.
    package var audiences: [String]
    /// The URL at which people sign in with a browser.
    package var authorizeURL: String
    /// The client id for sign-ins with a browser, which is one of the audiences; nil: the provider is not offered
    /// there.
    package var webClientID: String?
    /// True only for the development issuer and tests.
    package var allowsLoopbackHTTP: Bool

    package init(
        issuers: [String], jwksURL: String, audiences: [String], authorizeURL: String, webClientID: String? = nil,
        allowsLoopbackHTTP: Bool = false
    ) {
        self.issuers = issuers
        self.jwksURL = jwksURL
        self.audiences = audiences
        self.authorizeURL = authorizeURL
        self.webClientID = webClientID
        self.allowsLoopbackHTTP = allowsLoopbackHTTP
    }
}

extension Provider {
    /// The issuers and the addresses that the provider publishes.
    package var defaults: ProviderSettings {
        switch self {
        case .apple:
            ProviderSettings(
                issuers: ["https://appleid.apple.com"], jwksURL: "https://appleid.apple.com/auth/keys", audiences: [],
                authorizeURL: "https://appleid.apple.com/auth/authorize")
        case .google:
            ProviderSettings(
                issuers: ["https://accounts.google.com", "accounts.google.com"],
                jwksURL: "https://www.googleapis.com/oauth2/v3/certs", audiences: [],
                authorizeURL: "https://accounts.google.com/o/oauth2/v2/auth")
        }
    }
}
