import ErrorCodes

/// The parameters of an authorize request, from a query or a JSON body, before they are checked.
package struct AuthorizationParameters: Sendable {
    /// All values of a parameter, decoded.
    private let values: @Sendable (String) -> [String]
    /// `state` as it was sent.
    private let encodedState: String?

    /// - Parameters:
    ///   - encodedState: percent-encoded; nil if the request has none.
    ///   - values: all values of the named parameter, in order.
    package init(encodedState: String?, values: @escaping @Sendable (String) -> [String]) {
        self.encodedState = encodedState
        self.values = values
    }

    package static let names = [
        "response_type", "client_id", "redirect_uri", "scope", "state", "code_challenge", "code_challenge_method",
        "nonce", "prompt", "max_age", "login_hint", "id_token_hint", "provider", "request", "request_uri",
    ]

    /// The value of a parameter that is given once. A parameter without a value counts as absent (RFC 6749 §3.1).
    package subscript(name: String) -> String? {
        let values = values(name)
        return values.count == 1 && !values[0].isEmpty ? values[0] : nil
    }

    func isRepeated(_ name: String) -> Bool { values(name).count > 1 }

    fileprivate var state: String? { self["state"] == nil ? nil : encodedState }
}

/// The result of checking an authorize request.
package enum CheckedAuthorization: Sendable {
    /// There is no address to redirect to, so the user sees an error page.
    case unusable(UnusableAuthorization)
    case refused(OAuthError, RedirectTarget)
    /// - Parameter dropped: scopes that the application may not have, if its policy is not to block such requests.
    case valid(AuthorizationRequest, dropped: Scopes)
}

/// Why an authorize request cannot be refused by a redirect.
package enum UnusableAuthorization: String, Error, Sendable, CaseIterable {
    case unknownClient = "unknown_client"
    case invalidRedirectURI = "invalid_redirect_uri"
}

extension AuthorizationParameters {
    /// Checks the request in the order of the table in accounts §2.2.
    ///
    /// - Parameter application: the one that `client_id` names; nil if there is none.
    package func check(for application: Application?) -> CheckedAuthorization {
        guard let application, application.isActive, self["client_id"] == application.clientID else {
            return .unusable(.unknownClient)
        }
        guard let redirectURI = self["redirect_uri"],
            application.redirectURIs.contains(where: { $0.utf8.elementsEqual(redirectURI.utf8) })
        else { return .unusable(.invalidRedirectURI) }
        let target = RedirectTarget(uri: redirectURI, state: state)
        do {
            let (request, dropped) = try checkedRequest(for: application, redirectURI)
            return .valid(request, dropped: dropped)
        } catch {
            return .refused(error, target)
        }
    }

    private func checkedRequest(
        for application: Application, _ redirectURI: String
    ) throws(OAuthError) -> (AuthorizationRequest, dropped: Scopes) {
        for name in Self.names where isRepeated(name) {
            throw OAuthError(.invalidRequest, "\(name) is given more than once")
        }
        guard let state else { throw OAuthError(.invalidRequest, "state is missing") }
        guard let scope = self["scope"] else { throw OAuthError(.invalidRequest, "scope is missing") }
        guard let challenge = self["code_challenge"] else {
            throw OAuthError(.invalidRequest, "code_challenge is missing: PKCE with S256 is required")
        }
        guard CodeChallenge.isWellFormed(challenge) else {
            throw OAuthError(.invalidRequest, "code_challenge must be 43 base64url characters")
        }
        guard self["code_challenge_method"] == "S256" else {
            throw OAuthError(.invalidRequest, "code_challenge_method must be S256")
        }
        guard self["response_type"] == "code" else {
            throw OAuthError(.unsupportedResponseType, "response_type must be code")
        }
        let (scopes, dropped) = try application.allow(scope)
        if self["request"] != nil { throw OAuthError(.requestNotSupported, "request objects are not supported") }
        if self["request_uri"] != nil {
            throw OAuthError(.requestURINotSupported, "request objects are not supported")
        }
        let request = AuthorizationRequest(
            clientID: application.clientID, redirectURI: redirectURI, scope: scopes.text, state: state,
            codeChallenge: challenge, nonce: self["nonce"], prompts: try prompts(), maxAge: try maxAge(),
            loginHint: self["login_hint"].flatMap { $0.utf8.count <= AuthorizationRequest.loginHintLimit ? $0 : nil },
            signInOptions: signInOptions())
        return (request, dropped)
    }

    private func prompts() throws(OAuthError) -> [AuthorizationRequest.Prompt] {
        var prompts: [AuthorizationRequest.Prompt] = []
        for name in (self["prompt"] ?? "").split(separator: " ") {
            guard let prompt = AuthorizationRequest.Prompt(rawValue: String(name)) else {
                throw OAuthError(.invalidRequest, "prompt must be none, login, consent or select_account")
            }
            if !prompts.contains(prompt) { prompts.append(prompt) }
        }
        if prompts.contains(.none) && prompts.count > 1 {
            throw OAuthError(.invalidRequest, "prompt none cannot be combined with other values")
        }
        return prompts
    }

    /// Each option once. Unknown ones are ignored.
    private func signInOptions() -> [AuthorizationRequest.SignInOption] {
        var options: [AuthorizationRequest.SignInOption] = []
        for name in (self["provider"] ?? "").split(separator: ",") {
            if let option = AuthorizationRequest.SignInOption(rawValue: String(name)), !options.contains(option) {
                options.append(option)
            }
        }
        return options
    }

    private func maxAge() throws(OAuthError) -> Int64? {
        guard let text = self["max_age"] else { return nil }
        guard let seconds = Int64(text), seconds >= 0 else {
            throw OAuthError(.invalidRequest, "max_age must be a number of seconds")
        }
        return seconds
    }
}

extension Application {
    /// Divides the requested scopes into those that the application gets and those that its policy drops.
    ///
    /// - Throws: `invalid_scope` if its policy is to block, if no scope is left, or if there are too many.
    package func allow(_ scope: String) throws(OAuthError) -> (Scopes, dropped: Scopes) {
        let requested = try Scopes(requested: scope)
        // `offline_access` has no effect, so every application may request it.
        let dropped = requested.missing(from: allowedScopes.union(Scopes("offline_access")))
        let scopes = requested.missing(from: dropped)
        if scopes.isEmpty || (!dropped.isEmpty && scopePolicy == .block) {
            let names = Scopes(dropped.names.filter { $0.utf8.allSatisfy(OAuthError.isDescriptive) })
            throw OAuthError(
                .invalidScope, names.isEmpty ? "scope is not valid" : "not allowed for this client: \(names.summary)")
        }
        return (scopes, dropped)
    }
}
