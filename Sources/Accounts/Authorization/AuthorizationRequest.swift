import ErrorCodes
import Text
package import Time

/// An authorize request that has passed the checks (accounts §2.2).
package struct AuthorizationRequest: Codable, Sendable, Equatable {
    package enum Prompt: String, Codable, Sendable, CaseIterable {
        case none, login, consent
        case selectAccount = "select_account"
    }

    /// A way to sign in that the relying party wants to be offered.
    package enum SignInOption: String, Codable, Sendable, CaseIterable {
        case apple, google, app
    }

    package var clientID: String
    /// One of the application's registered URIs, equal as a string.
    package var redirectURI: String
    /// Space separated; never empty.
    package var scope: String
    /// As the client sent it, still percent-encoded: clients compare it byte for byte.
    package var state: String
    package var codeChallenge: String
    package var nonce: String?
    package var prompts: [Prompt]
    /// In seconds.
    package var maxAge: Int64?
    package var loginHint: String?
    /// In bytes. No address is longer, so a longer hint is ignored.
    static let loginHintLimit = 320
    /// Empty if all options are to be offered.
    package var signInOptions: [SignInOption]
    /// Of a valid id_token_hint: the sub of the only user who may get a code.
    package var hintedSub: String?

    package var scopes: Scopes { Scopes(scope) }

    /// Whether a sign-in at that time is recent enough for the request (OpenID Connect Core §3.1.2.1, `prompt` and
    /// `max_age`).
    package func takes(signInAt authenticatedAt: Timestamp, now: Timestamp) -> Bool {
        if prompts.contains(.login) { return false }
        return maxAge.map { now - authenticatedAt <= .seconds($0) && $0 > 0 } ?? true
    }

    /// The redirect that delivers the code.
    package func redirect(code: String) -> String {
        RedirectTarget(uri: redirectURI, state: state).location([("code", code)])
    }

    package func redirect(_ error: OAuthError) -> String {
        RedirectTarget(uri: redirectURI, state: state).location(error)
    }
}

/// A registered redirect URI, and the state that is sent back with every answer.
package struct RedirectTarget: Sendable, Equatable {
    package let uri: String
    /// As the client sent it, still encoded; nil if it sent none or several.
    let state: String?

    /// The URI unchanged, then the parameters, then the state, once.
    func location(_ parameters: [(name: String, value: String)]) -> String {
        var pairs = parameters.map { "\($0.name)=\(PercentEncoding.encode($0.value))" }
        if let state { pairs.append("state=\(PercentEncoding.sanitize(state))") }
        return uri + (uri.contains("?") ? "&" : "?") + pairs.joined(separator: "&")
    }

    package func location(_ error: OAuthError) -> String {
        location([("error", error.code.rawValue), ("error_description", error.description)])
    }
}
