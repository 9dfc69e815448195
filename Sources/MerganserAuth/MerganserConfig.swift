public import Foundation

/// Which application signs in at which server.
public struct MerganserConfig: Hashable, Sendable {
    /// The application's client_id: `logi_…`.
    public var clientID: String
    /// Where the browser comes back to, as registered with the server, character by character.
    public var redirectURI: String
    /// What the app asks for. Without `openid` there is no id_token, and claims tell of the subs alone.
    public var scopes: [String]
    /// The server: `https://id.example.com`.
    public var issuer: URL
    /// What tokens name as their issuer, if that differs from `issuer`.
    public var tokenIssuer: URL?
    /// How long a sign-in may stay with the browser or the other app.
    public var handoffTimeout: Duration = .seconds(600)

    /// What most apps ask for.
    public static let standardScopes = ["openid", "profile:basic", "email"]

    /// Nothing is checked before `MerganserAuth.configure` or `AuthSession`.
    public init(
        clientID: String, redirectURI: URL, scopes: [String] = standardScopes, issuer: URL, tokenIssuer: URL? = nil
    ) {
        self.init(
            clientID: clientID, redirectURI: redirectURI.absoluteString, scopes: scopes, issuer: issuer,
            tokenIssuer: tokenIssuer)
    }

    /// The same with a redirect URI as text: `URL(string:)` is nil for a scheme with an underscore, where `configure`
    /// explains.
    public init(
        clientID: String, redirectURI: String, scopes: [String] = standardScopes, issuer: URL, tokenIssuer: URL? = nil
    ) {
        self.clientID = clientID
        self.redirectURI = redirectURI
        self.scopes = scopes
        self.issuer = issuer
        self.tokenIssuer = tokenIssuer
    }

    /// Checks what would otherwise fail later and less clearly (accounts §2.1).
    ///
    /// - Throws: the first fault.
    public func check() throws(ConfigurationFault) {
        guard !clientID.isEmpty else { throw .noClientID }
        guard !scopes.isEmpty, scopes.allSatisfy({ !$0.isEmpty && !$0.contains(" ") }) else { throw .scopes }
        try Self.check(issuer: issuer)
        if let tokenIssuer { try Self.check(issuer: tokenIssuer) }

        guard let colon = redirectURI.firstIndex(of: ":") else { throw .noScheme }
        let scheme = redirectURI[..<colon].lowercased()
        if scheme.contains("_") { throw .schemeUnderscore(scheme) }
        guard scheme.wholeMatch(of: /[a-z][a-z0-9.-]*/) != nil, !Self.forbiddenSchemes.contains(scheme) else {
            throw .schemeForbidden(scheme)
        }
        guard let url = URL(string: redirectURI), !redirectURI.contains("#") else { throw .redirectURI }
        switch scheme {
        case "https":
            guard let host = url.host, !host.isEmpty else { throw .redirectURI }
            if host.lowercased() == issuer.host?.lowercased() { throw .issuerHost(host) }
        case "http":
            guard url.isLoopback else { throw .plainHTTP }
        default: break
        }
    }

    /// The issuer as tokens name it: without a final slash.
    var issuerName: String { (tokenIssuer ?? issuer).withoutFinalSlash }

    static func check(issuer: URL) throws(ConfigurationFault) {
        guard issuer.canCarryCredentials, issuer.query == nil, issuer.fragment == nil else { throw .issuer }
    }

    private static let forbiddenSchemes: Set = [
        "javascript", "data", "file", "blob", "about", "vbscript", "ws", "wss", "ftp", "mailto", "tel", "sms", "intent",
    ]
}

/// What `configure` refuses.
public enum ConfigurationFault: Error, Hashable, Sendable {
    /// The client_id is empty.
    case noClientID
    /// There are none, or one has a space.
    case scopes
    /// Not an https URL with a host; http only to this machine.
    case issuer
    /// The redirect URI has no scheme.
    case noScheme
    /// iOS rejects schemes with an underscore.
    case schemeUnderscore(String)
    /// Browsers and systems use the scheme themselves.
    case schemeForbidden(String)
    /// No URL, one without a host, or one with a fragment.
    case redirectURI
    /// http to another machine.
    case plainHTTP
    /// An https redirect URI on the server's own host.
    case issuerHost(String)

    /// What is wrong, for developers.
    public var explanation: String {
        switch self {
        case .noClientID: "The client_id is empty."
        case .scopes: "Scopes are missing, or one contains a space."
        case .issuer: "The issuer is no https URL; http is for this machine only."
        case .noScheme: "The redirect URI has no scheme."
        case .schemeUnderscore(let scheme): "iOS rejects schemes containing an underscore: \(scheme)."
        case .schemeForbidden(let scheme): "The scheme \(scheme) cannot be a redirect URI's."
        case .redirectURI: "The redirect URI is malformed or has a fragment."
        case .plainHTTP: "A redirect URI with http leads to this machine only."
        case .issuerHost(let host):
            """
            The redirect URI is on the server's own host \(host), whose universal links belong to the server's own app: \
            the sign-in would end with a spurious missingCode.
            """
        }
    }

    /// What to do about it, for developers.
    public var suggestion: String {
        switch self {
        case .schemeUnderscore: "Use a scheme such as myapp or com.example.myapp, without an underscore."
        case .issuerHost, .plainHTTP, .schemeForbidden, .noScheme, .redirectURI:
            "Use a custom scheme: myapp://oauth/callback."
        case .noClientID: "Use the client_id that the server gave the application."
        case .scopes: "Use one string for each scope, such as openid."
        case .issuer: "Use the server's base URL, such as https://id.example.com."
        }
    }
}
