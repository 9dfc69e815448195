import Testing

@testable import Accounts

/// The checks of an authorize request (accounts §2.2), without a server.
@Suite struct AuthorizationRequestTests {
    private static let valid: [(String, String)] = [
        ("response_type", "code"), ("client_id", "logi_1"), ("redirect_uri", "com.example.app://callback"),
        ("scope", "openid email"), ("state", "s-1"), ("code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"),
        ("code_challenge_method", "S256"),
    ]

    private func application(
        policy: Application.ScopePolicy = .block, status: Application.Status = .active,
        redirectURIs: [String] = ["com.example.app://callback", "https://shop.example/cb?tenant=1"]
    ) -> Application {
        Application(
            id: Application.ID(rawValue: 1), clientID: "logi_1", name: "Shop", clientType: .public, status: status,
            redirectURIs: redirectURIs, allowedScopes: Scopes("openid profile:basic email shop:tier"),
            scopePolicy: policy, allowAnonymousGrants: false, firstParty: false)
    }

    /// - Parameter changes: a nil value removes the parameter, others replace it, or come on top when they end in `+`.
    private func check(
        _ changes: [(String, String?)] = [], _ application: Application? = nil, unknownClient: Bool = false
    ) -> CheckedAuthorization {
        var parameters = Self.valid
        for (name, value) in changes {
            if name.hasSuffix("+") {
                parameters.append((String(name.dropLast()), value ?? ""))
            } else {
                parameters.removeAll { $0.0 == name }
                if let value { parameters.append((name, value)) }
            }
        }
        let all = parameters
        return AuthorizationParameters(encodedState: all.first { $0.0 == "state" }?.1) { name in
            all.filter { $0.0 == name }.map(\.1)
        }.check(for: unknownClient ? nil : application ?? self.application())
    }

    private func location(_ checked: CheckedAuthorization) -> String? {
        guard case .refused(let error, let target) = checked else { return nil }
        return target.location(error)
    }

    @Test func aValidRequestIsTakenAsItIs() throws {
        guard
            case .valid(let request, let dropped) = check([
                ("nonce", "n"), ("prompt", "login consent"), ("max_age", "0"), ("provider", "google,app,fax"),
            ])
        else { throw Missing() }
        #expect(request.scopes.names == ["openid", "email"] && dropped.isEmpty)
        #expect(request.nonce == "n" && request.maxAge == 0)
        #expect(request.prompts == [.login, .consent])
        #expect(request.signInOptions == [.google, .app])
        #expect(request.redirect(code: "c") == "com.example.app://callback?code=c&state=s-1")
    }

    @Test func whatIsSaidTwiceCountsOnce() throws {
        guard
            case .valid(let request, _) = check([
                ("prompt", "login consent login"), ("provider", "apple,google,apple"), ("scope", "openid email openid"),
                ("login_hint", String(repeating: "a", count: 320)),
            ]),
            case .valid(let long, _) = check([("login_hint", String(repeating: "a", count: 321))])
        else { throw Missing() }
        #expect(request.prompts == [.login, .consent] && request.signInOptions == [.apple, .google])
        #expect(request.scope == "openid email" && request.loginHint?.utf8.count == 320)
        // What is no address helps nobody.
        #expect(long.loginHint == nil)
    }

    private static let rows: [(name: String, value: String?, error: String?)] = [
        ("state", nil, "invalid_request"), ("scope", nil, "invalid_request"), ("scope", "", "invalid_request"),
        ("code_challenge", nil, "invalid_request"), ("code_challenge", "short", "invalid_request"),
        ("code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw.cM", "invalid_request"),
        ("code_challenge_method", nil, "invalid_request"), ("code_challenge_method", "plain", "invalid_request"),
        ("code_challenge_method", "s256", "invalid_request"), ("nonce+", "a", nil),
        ("prompt", "once", "invalid_request"),
        ("prompt", "none login", "invalid_request"), ("max_age", "-1", "invalid_request"),
        ("max_age", "1h", "invalid_request"), ("scope+", "openid", "invalid_request"),
        ("state+", "s-2", "invalid_request"), ("response_type+", "code", "invalid_request"),
        ("response_type", "token", "unsupported_response_type"), ("response_type", nil, "unsupported_response_type"),
        ("response_type", "code id_token", "unsupported_response_type"), ("scope", "openid phone", "invalid_scope"),
        ("scope", "admin", "invalid_scope"), ("request", "ey", "request_not_supported"),
        ("request_uri", "https://x", "request_uri_not_supported"), ("unknown", "x", nil),
    ]

    @Test(arguments: rows) func everyRowOfTheTable(name: String, value: String?, error: String?) {
        let location = location(check([(name, value)]))
        #expect((location == nil) == (error == nil))
        if let error, let location {
            #expect(location.hasPrefix("com.example.app://callback?error=\(error)&error_description="))
            #expect(location.hasSuffix("&state=s-1") == !["state", "state+"].contains(name))
        }
    }

    @Test(arguments: ["client_id", "redirect_uri"]) func nobodyIsSentAnywhereOnARepeatedTarget(name: String) {
        guard case .unusable = check([("\(name)+", "com.example.app://callback")]) else {
            Issue.record("not refused")
            return
        }
    }

    @Test(arguments: [Application.Status.pending, .suspended]) func onlyActiveApplications(status: Application.Status) {
        guard case .unusable(.unknownClient) = check([], application(status: status)) else {
            Issue.record("not refused")
            return
        }
    }

    @Test func anUnknownClientAndAnUnregisteredURI() {
        guard case .unusable(.unknownClient) = check(unknownClient: true),
            case .unusable(.invalidRedirectURI) = check([("redirect_uri", "com.example.app://callback/")]),
            case .unusable(.invalidRedirectURI) = check([("redirect_uri", nil)])
        else {
            Issue.record("not refused")
            return
        }
    }

    @Test(arguments: [Application.ScopePolicy.logOnly, .alert]) func otherPoliciesDropScopes(
        policy: Application.ScopePolicy
    ) throws {
        guard case .valid(let request, let dropped) = check([("scope", "openid phone")], application(policy: policy))
        else { throw Missing() }
        #expect(request.scope == "openid" && dropped.names == ["phone"])
        #expect(location(check([("scope", "phone")], application(policy: policy)))?.contains("invalid_scope") == true)
    }

    @Test func aRegisteredQueryIsKept() throws {
        let uri = "https://shop.example/cb?tenant=1"
        guard case .valid(let request, _) = check([("redirect_uri", uri), ("state", "a%20b+c&d=%22\u{E9}")]) else {
            throw Missing()
        }
        // What may stand in a query goes back as it came; what ends or begins a parameter cannot.
        #expect(request.redirect(code: "c") == uri + "&code=c&state=a%20b+c%26d=%22%C3%A9")
    }

    @Test func profileHasTwoNames() {
        #expect(Scopes("profile").isCovered(by: Scopes("openid profile:basic")))
        #expect(Scopes("a b a").names == ["a", "b"])
        for text in ["a b a", " a b", "a  b", "a b ", "a b"] { #expect(Scopes(text).text == "a b") }
        #expect(Scopes("").text == "" && Scopes(" ").text == "" && Scopes(["b", "b"]).text == "b")
        let many = (0..<40).map { "s\($0)" }
        #expect(Scopes((many + many).joined(separator: " ")).names == many)
        for count in 30...34 {
            let names = (100..<100 + count).map { "n\($0)" }
            let text = names.joined(separator: " ")
            #expect(Scopes(text).text == text)
            for repeated in [names[0], names[count - 1]] { #expect(Scopes("\(text) \(repeated)").text == text) }
        }
        #expect(Scopes("ab abc a").names == ["ab", "abc", "a"])
        #expect(Scopes("a abc").contains("a") && !Scopes("ab abc").contains("a") && !Scopes("a").contains(""))
        let custom = Scopes("openid shop:tier a:b:c identity:level :x x: profile:basics ä:ö").custom
        #expect(custom.map(\.scope) == ["shop:tier", "profile:basics", "ä:ö"])
        #expect(custom.map(\.namespace) == ["shop", "profile", "ä"] && custom.map(\.key) == ["tier", "basics", "ö"])
    }

    @Test func challenges() {
        let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        #expect(CodeChallenge.matches(challenge, verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"))
        #expect(!CodeChallenge.matches(challenge, verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXK"))
        #expect(!CodeChallenge.matches(challenge, verifier: challenge))
        #expect(!CodeChallenge.matches(challenge, verifier: String(repeating: "a", count: 129)))
    }
}

private struct Missing: Error {}
