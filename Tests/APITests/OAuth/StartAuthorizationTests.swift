import Foundation
import HTTP
import JOSE
import JSON
import TestSupport
import Testing
import Time

@testable import Pages

/// `GET /oauth/authorize`: every row of the table in accounts §2.2, with the redirect or page that it demands.
@Suite struct StartAuthorizationTests {
    let scene: OAuthScene
    let rp: TestClient

    init() throws {
        scene = try OAuthScene()
        rp = try scene.register(redirectURIs: ["https://shop.example/callback"])
    }

    private func ask(
        _ changes: KeyValuePairs<String, String?> = [:], extra: String = "", accept: String = "text/html"
    ) -> Answer {
        TestBrowser(scene.app).send(
            .get, scene.authorizePath(rp, changes) + extra, headers: [("accept", accept)])
    }

    // MARK: Nobody to send back to

    @Test func withoutAClientAndItsAddressThereIsAPage() throws {
        let pending = try scene.register("Pending")
        try scene.app.change("UPDATE applications SET status = 'pending' WHERE id = ?", pending.id)
        let suspended = try scene.register("Suspended")
        try scene.app.change("UPDATE applications SET status = 'suspended' WHERE id = ?", suspended.id)
        let clients = [
            ask(["client_id": nil]), ask(["client_id": ""]), ask(["client_id": "logi_none"]),
            ask(["client_id": rp.clientID.uppercased()]), ask(extra: "&client_id=\(rp.clientID)"),
            ask(["client_id": pending.clientID, "redirect_uri": pending.redirectURI]),
            ask(["client_id": suspended.clientID, "redirect_uri": suspended.redirectURI]),
        ]
        let addresses = [
            ask(["redirect_uri": nil]), ask(["redirect_uri": ""]), ask(["redirect_uri": "https://shop.example/"]),
            ask(extra: "&redirect_uri=https://shop.example/callback"),
            // Nothing else is looked at before.
            ask(["redirect_uri": "https://evil.example", "state": nil, "response_type": "token"]),
        ]
        for (answers, heading) in [
            (clients, EnglishTexts().heading(.unknownApplication)),
            (addresses, EnglishTexts().heading(.unknownRedirect)),
        ] {
            for answer in answers {
                #expect(answer.status == 400 && answer.header("Location") == nil)
                #expect(answer.header("Content-Type") == "text/html; charset=utf-8")
                #expect(answer.text.contains("<h1>\(heading)</h1>"), "\(answer)")
            }
        }
    }

    @Test(arguments: [
        ("application/json", true), ("application/json, text/html;q=0.9", true), ("*/*", false), ("", false),
        ("text/html, application/json", false), ("text/*", false), ("application/*;q=0.5, text/html;q=0.4", true),
    ])
    func thePageIsJSONForWhoPrefersIt(_ accept: String, _ isJSON: Bool) {
        for (changes, error) in [
            (["client_id": "x"] as KeyValuePairs<String, String?>, "invalid_client"),
            (["redirect_uri": "x:y"], "invalid_request"),
        ] {
            let answer = ask(changes, accept: accept)
            #expect(answer.status == 400 && answer.header("Location") == nil)
            #expect(answer.error == (isJSON ? error : nil))
            if isJSON { #expect(answer["error_uri"] == .string("https://id.example/oauth/errors#\(error)")) }
        }
    }

    // MARK: Refused by redirect

    /// The `error` of an answer that redirects to the application. Checks that the state occurs once.
    private func error(_ answer: Answer, sourceLocation: SourceLocation = #_sourceLocation) -> String? {
        let location = answer.header("Location") ?? ""
        #expect(answer.status == 302 && answer.header("Set-Cookie") == nil, sourceLocation: sourceLocation)
        #expect(location.hasPrefix("https://shop.example/callback?error="), sourceLocation: sourceLocation)
        #expect(query(of: location)["error_description"]?.isEmpty == false, sourceLocation: sourceLocation)
        return query(of: location)["error"]
    }

    @Test func whatIsMissingOrMalformedLeadsBack() {
        for name in ["scope", "code_challenge", "code_challenge_method"] {
            for value in [nil, ""] as [String?] {
                let answer = ask([name: value])
                #expect(error(answer) == "invalid_request", "\(name)")
                #expect(answer.header("Location")?.hasSuffix("&state=xyz") == true)
            }
        }
        for value in [nil, ""] as [String?] {
            let answer = ask(["state": value])
            #expect(error(answer) == "invalid_request")
            #expect(answer.header("Location")?.contains("state=") == false)
        }
        let challenge = OAuthScene.challenge
        for bad in [
            String(challenge.dropLast()), challenge + "a", String(challenge.dropLast()) + "=",
            String(challenge.dropLast()) + ".", String(challenge.dropLast()) + "é",
        ] {
            #expect(error(ask(["code_challenge": bad])) == "invalid_request", "\(bad)")
        }
        for method in ["plain", "s256", "S512"] {
            #expect(error(ask(["code_challenge_method": method])) == "invalid_request", "\(method)")
        }
        for bad in [
            ["prompt": "maybe"], ["prompt": "none login"], ["max_age": "-1"], ["max_age": "soon"],
        ] as [KeyValuePairs<String, String?>] {
            #expect(error(ask(bad)) == "invalid_request", "\(bad)")
        }
    }

    @Test func aRepeatedParameterLeadsBack() {
        for name in [
            "response_type", "scope", "code_challenge", "code_challenge_method", "nonce", "prompt", "max_age",
            "login_hint", "id_token_hint", "provider",
        ] {
            #expect(error(ask(extra: "&\(name)=1&\(name)=1")) == "invalid_request", "\(name)")
        }
        let answer = ask(extra: "&state=other")
        #expect(error(answer) == "invalid_request")
        #expect(answer.header("Location")?.contains("state=") == false)
        // Those that nobody knows may come as often as they like.
        #expect(ask(extra: "&color=red&color=blue").status == 303)
    }

    @Test func otherResponseTypesAndRequestObjectsLeadBack() {
        for type in [nil, "token", "id_token", "code id_token", "code token"] as [String?] {
            #expect(error(ask(["response_type": type])) == "unsupported_response_type", "\(type ?? "none")")
        }
        #expect(error(ask(["request": "eyJhbGciOiJub25lIn0.e30."])) == "request_not_supported")
        #expect(error(ask(["request_uri": "https://evil.example/r"])) == "request_uri_not_supported")
    }

    @Test func aScopeThatIsNotAllowedLeadsBackOrIsDropped() throws {
        #expect(error(ask(["scope": "openid phone"])) == "invalid_scope")
        for policy in ["log_only", "alert"] {
            try scene.app.change("UPDATE applications SET scope_policy = ? WHERE id = ?", policy, rp.id)
            let browser = try scene.signedIn(policy)
            browser.open(scene.authorizePath(rp, ["scope": "openid phone"]))
            try browser.submit("/oauth/consent", ["decision": "allow"])
            let code = try #require(browser.code)
            #expect(scene.exchange(code, by: rp)["scope"] == "openid")
            let told = try scene.app.column("SELECT details FROM audit_log WHERE action = 'scope.dropped'")
            #expect(
                told
                    == (policy == "alert" ? [#"{"client_id":"\#(rp.clientID)","scopes":"phone"}"#] : []))
        }
    }

    // MARK: What goes back

    @Test(arguments: [
        "xyz", "a%20b", "a+b", "%7B%22a%22%3A1%7D", "x/y?z=1", "%E2%9C%93", "a%2Bb", "~._-", "%zz", "a=b==",
    ])
    func theStateComesBackAsItWent(_ state: String) throws {
        let browser = try scene.signedIn()
        let path = scene.authorizePath(rp, ["state": nil]) + "&state=" + state
        let refused = browser.send(.get, path + "&request=x")
        #expect(refused.header("Location")?.hasSuffix("&state=\(state)") == true)
        browser.open(path)
        try browser.submit("/oauth/consent", ["decision": "allow"])
        let location = try #require(browser.landed)
        #expect(location.hasSuffix("&state=\(state)"))
        #expect(location.components(separatedBy: "state=").count == 2)
        #expect(query(of: location)["iss"] == nil)
    }

    @Test(arguments: [
        ("com.example.shop:/callback", "com.example.shop:/callback?code="),
        ("com.example.shop:callback", "com.example.shop:callback?code="),
        ("myapp://", "myapp://?code="), ("myapp://cb?a=1", "myapp://cb?a=1&code="),
        ("https://shop.example/cb?a=1", "https://shop.example/cb?a=1&code="),
        ("http://127.0.0.1:3000/cb", "http://127.0.0.1:3000/cb?code="),
        ("http://[::1]/", "http://[::1]/?code="),
    ])
    func theAddressIsWrittenAsItWasRegistered(_ uri: String, _ start: String) throws {
        let rp = try scene.register("Other", redirectURIs: ["https://other.example/", uri])
        let browser = try scene.signedIn()
        browser.open(scene.authorizePath(rp, ["redirect_uri": uri]))
        try browser.submit("/oauth/consent", ["decision": "allow"])
        #expect(browser.answer.status == 302)
        #expect(browser.landed?.hasPrefix(start) == true)
    }

    @Test func theCodeIsForThisRequestAndSignIn() throws {
        let browser = try scene.signedIn()
        let signedInAt = scene.app.time.now.seconds
        scene.app.time.advance(by: .seconds(500))
        browser.open(scene.authorizePath(rp, ["nonce": "n-0S6", "scope": "openid email"]))
        try browser.submit("/oauth/consent", ["decision": "allow"])
        let code = try #require(browser.code)
        #expect(code.wholeMatch(of: /[A-Za-z0-9._~-]{43}/) != nil)
        let tokens = try Tokens(scene.exchange(code, by: rp))
        let claims = try tokens.idClaims
        #expect(claims.string("nonce") == "n-0S6")
        #expect(claims.numericDate("auth_time") == Double(signedInAt))
        #expect(tokens.answer["scope"] == "openid email")
        let user = try scene.app.column("SELECT CAST(user_id AS CHAR) FROM identities WHERE sub = 'subject'")
        #expect(claims.string("sub") == user[0])
    }

    // MARK: As a form

    /// It comes from another site, so the browser sends no cookie.
    private func post(_ form: String, type: String = "application/x-www-form-urlencoded") -> Answer {
        scene.client.send(
            .post, "/oauth/authorize", bytes: Array(form.utf8),
            headers: [("content-type", type), ("origin", "https://shop.example"), ("accept", "text/html")])
    }

    @Test func aFormLeadsToTheSameRequest() throws {
        let form = String(scene.authorizePath(rp, ["state": nil]).drop { $0 != "?" }.dropFirst())
        let browser = try scene.signedIn()
        var path = ""
        try scene.app.expectUnchanged {
            let answer = post(form + "&state=a+b%2Bc=|\r\nX: é")
            path = try #require(answer.header("Location"))
            #expect(answer.status == 303 && answer.header("Set-Cookie") == nil)
            #expect(path == "/oauth/authorize?\(form)&state=a+b%2Bc=%7C%0D%0AX:%20%C3%A9")
            // Whatever else is wrong, the GET says so.
            #expect(post(form).header("Location") == "/oauth/authorize?\(form)")

            // The longest is good for a request line of nginx.
            let longest = form + "&state=" + String(repeating: "s", count: 16_000 - form.utf8.count - 7)
            #expect(post(longest).status == 303)
            let refused = [
                post(longest + "s"), post(""), post("client_id=logi_none&" + form), post(form + "&redirect_uri=x"),
                post(form.replacing("shop.example", with: "evil.example")), post(form, type: "multipart/form-data"),
            ]
            for answer in refused { #expect(answer.status == 400 && answer.header("Location") == nil, "\(answer)") }
        }
        browser.open(path)
        try browser.submit("/oauth/consent", ["decision": "allow"])
        #expect(browser.code != nil && browser.landed?.hasSuffix("&state=a+b%2Bc=%7C%0D%0AX:%20%C3%A9") == true)
    }

    // MARK: Remembered consent

    @Test func consentIsRememberedForTheScopesItWasGiven() throws {
        let browser = try scene.signedIn()
        browser.open(scene.authorizePath(rp, ["scope": "openid email"]))
        #expect(browser.path.hasPrefix("/oauth/consent?"))
        try browser.submit("/oauth/consent", ["decision": "allow"])

        for scope in ["openid email", "email openid", "openid"] {
            let answer = browser.send(.get, scene.authorizePath(rp, ["scope": scope]))
            #expect(answer.status == 302 && answer.header("Set-Cookie") == nil)
            #expect(query(of: answer.header("Location") ?? "")["code"] != nil)
        }
        browser.open(scene.authorizePath(rp, ["scope": "openid profile"]))
        #expect(browser.path.hasPrefix("/oauth/consent?"))
        try scene.app.change("UPDATE grants SET revoked_at = NOW(3)")
        browser.open(scene.authorizePath(rp, ["scope": "openid email"]))
        #expect(browser.path.hasPrefix("/oauth/consent?"))
    }

    @Test func theOperatorsOwnApplicationsNeedNone() throws {
        let own = try scene.register("Own", firstParty: true)
        let browser = TestBrowser(scene.app)
        browser.open(scene.authorizePath(own))
        try browser.signIn()
        #expect(browser.code != nil)
        #expect(browser.send(.get, scene.authorizePath(own, ["prompt": "none"])).status == 302)
    }

    @Test func anAnonymousPersonNeedsAnApplicationThatIsOpenToThem() throws {
        let browser = try scene.signedIn()
        try scene.app.change("UPDATE users SET anonymous = TRUE")
        let answer = browser.send(.get, scene.authorizePath(rp))
        let location = try #require(answer.header("Location"))
        #expect(answer.status == 302 && query(of: location)["error"] == "access_denied")
        #expect(query(of: location)["error_description"] == "anonymous_not_allowed")
        try scene.app.change("UPDATE applications SET allow_anonymous_grants = TRUE")
        browser.open(scene.authorizePath(rp))
        #expect(browser.path.hasPrefix("/oauth/consent?"))
    }
}
