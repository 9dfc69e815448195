import HTTP
import JOSE
import JSON
import TestSupport
import Testing

/// Authorization in the server's own app (accounts §2.3), and the grants that it makes (accounts §2.2).
@Suite struct NativeAuthorizationTests {
    let app: TestApp
    let scene: OAuthScene
    let rp: TestClient
    let person: Phone

    init() throws {
        app = try TestApp()
        scene = try OAuthScene(app)
        rp = try scene.register(scopes: "openid profile:basic email shop:tier")
        person = try scene.person()
    }

    private func preview(_ scope: String = "openid email", as phone: Phone? = nil, prompt: String? = nil) -> Answer {
        let query = String(
            decoding: encoded(scene.parameters(rp, scope: scope) + [("prompt", prompt)]), as: UTF8.self)
        return scene.client.send(
            .get, "/api/v1/oauth/authorize/preview?\(query)", token: (phone ?? person).token)
    }

    private func grants() throws -> [String] {
        try app.column(
            """
            SELECT CONCAT_WS(' | ', user_id, sub, scopes, IF(revoked_at IS NULL, 'live', 'revoked')) FROM grants ORDER BY id
            """)
    }

    // MARK: Answers

    @Test func anApprovalIsWorthACode() throws {
        let answer = scene.authorize(rp, as: person, scope: "openid email", ["state": "a b+c&d=é"])
        #expect(answer.status == 200)
        #expect(answer.header("Cache-Control") == "no-store")
        let code = try #require(answer["code"]?.string)
        #expect(code.utf8.count == 43)
        #expect(
            answer.json == [
                "code": .string(code), "state": "a b+c&d=é", "redirect_uri": .string(rp.redirectURI),
                "redirect_to": .string("\(rp.redirectURI)?code=\(code)&state=a%20b%2Bc%26d%3D%C3%A9"),
                "expires_in": 300,
            ])
        #expect(try Tokens(scene.exchange(code, by: rp)).idClaims.subject == "\(person.userID)")
        #expect(try grants() == ["\(person.userID) | \(person.userID) | openid email | live"])
    }

    @Test func aRefusalIsToldAndLeavesNothing() throws {
        let answer = scene.authorize(rp, as: person, ["decision": "deny"])
        #expect(answer.status == 200)
        #expect(
            answer.json == [
                "error": "access_denied", "state": "xyz",
                "redirect_to": .string(
                    "\(rp.redirectURI)?error=access_denied&error_description=the%20user%20refused&state=xyz"),
            ])
        #expect(try grants() == [])
    }

    @Test(arguments: ["consent", "select_account", "consent select_account"])
    func whoIsAskedAgainNeedNotSignInAgain(_ prompt: String) throws {
        #expect(preview(prompt: prompt)["consent_required"] == true)
        #expect(scene.authorize(rp, as: person, scope: "openid", ["prompt": .string(prompt)]).status == 200)
    }

    /// A PAK cannot sign in again, so nothing is decided here, not even a refusal.
    @Test func aNewSignInIsForBrowsers() throws {
        for decision in ["approve", "deny"] {
            let answer = scene.authorize(rp, as: person, ["prompt": "login", "decision": .string(decision)])
            #expect(answer.status == 400 && answer.error == "login_required")
        }
        #expect(try grants() == [])
    }

    @Test func aHintOfAnotherUserIsForBrowsers() throws {
        let other = try scene.person("other", email: nil)
        let (own, theirs) = (try scene.signIn(rp, as: person).id, try scene.signIn(rp, as: other).id)
        func answer(_ hint: String?) -> Answer {
            scene.authorize(rp, as: person, ["id_token_hint": hint.map { .string($0) }])
        }
        #expect(answer(own).status == 200 && answer("x").status == 200)
        #expect(answer(theirs).status == 400 && answer(theirs).error == "login_required")
    }

    @Test func thePreviewSaysWhatWouldBeAllowed() throws {
        try app.change("UPDATE applications SET app_link_url = 'https://shop.example/app'")
        #expect(
            preview().json == [
                "application": [
                    "client_id": .string(rp.clientID), "name": "Shop", "app_link_url": "https://shop.example/app",
                ],
                "scopes": [
                    ["name": "openid", "description": "Recognize you when you sign in", "granted": false],
                    ["name": "email", "description": "See your e-mail address", "granted": false],
                ],
                "consent_required": true, "anonymous_allowed": false, "redirect_uri": .string(rp.redirectURI),
            ])
        _ = try scene.code(rp, as: person, scope: "openid profile:basic")
        let wider = preview("openid profile email")
        #expect(wider["scopes"]?.array?.map { $0["granted"] } == [true, true, false])
        #expect(wider["consent_required"] == true)
        #expect(preview("openid profile")["consent_required"] == false)
        #expect(preview("openid profile", prompt: "consent")["consent_required"] == true)
        try app.change("UPDATE applications SET first_party = 1, app_link_url = NULL")
        let own = preview("openid email", prompt: "consent")
        #expect(own["consent_required"] == false && own["application"]?["app_link_url"] == .null)
        #expect(try app.count("SELECT COUNT(*) FROM authorization_codes") == 1)
    }

    // MARK: Refusals

    @Test(
        arguments: [
            ("client_id", "logi_unknown", "invalid_client"), ("client_id", nil, "invalid_client"),
            ("redirect_uri", "com.example.shop://callback/", "invalid_request"),
            ("redirect_uri", nil, "invalid_request"),
            ("state", nil, "invalid_request"), ("scope", nil, "invalid_request"),
            ("code_challenge", nil, "invalid_request"), ("code_challenge_method", "plain", "invalid_request"),
            ("response_type", "token", "unsupported_response_type"), ("scope", "openid phone", "invalid_scope"),
            ("request", "ey", "request_not_supported"), ("request_uri", "https://x", "request_uri_not_supported"),
            ("prompt", "none", "consent_required"), ("prompt", "login", "login_required"),
            ("prompt", "consent login", "login_required"), ("prompt", "login select_account", "login_required"),
            ("prompt", "none login", "invalid_request"), ("prompt", "Login", "invalid_request"),
            ("max_age", "59", "login_required"), ("max_age", "0", "login_required"),
        ] as [(String, String?, String)]) func theTableOfAuthorize(name: String, value: String?, error: String) throws
    {
        app.time.advance(by: .seconds(60))
        let members = scene.parameters(rp).filter { $0.0 != name } + (value.map { [(name, $0)] } ?? [])
        let answer = scene.client.send(
            .post, "/api/v1/oauth/authorize",
            .object(JSONObject(members.map { ($0.0, JSONValue.string($0.1)) })), token: person.token)
        #expect(answer.status == 400 && answer.error == error, "\(answer)")
        #expect(answer["error_description"]?.string?.isEmpty == false && answer["request_id"] == nil)
        #expect(answer.header("Location") == nil && answer.header("WWW-Authenticate") == nil)
        // A preview asks nobody.
        if error != "consent_required" {
            let query = String(decoding: encoded(members.map { ($0.0, $0.1) }), as: UTF8.self)
            let preview = scene.client.send(
                .get, "/api/v1/oauth/authorize/preview?\(query)", token: person.token)
            #expect(preview.text == answer.text && preview.status == 400)
        }
        #expect(try grants() == [])
    }

    @Test(
        arguments: [("state", 7), ("client_id", true), ("decision", "maybe"), ("max_age", 1.5)] as [(String, JSONValue)]
    )
    func aMemberOfAnotherTypeIsRefused(name: String, value: JSONValue) {
        let members = scene.parameters(rp).map { ($0.0, $0.0 == name ? value : JSONValue.string($0.1)) }
        let body = JSONValue.object(JSONObject(members)).adding([name: members.contains { $0.0 == name } ? nil : value])
        #expect(
            "\(scene.client.send(.post, "/api/v1/oauth/authorize", body, token: person.token))"
                == refusal(400, "invalid_request"))
    }

    @Test func anonymousUsersNeedTheOperatorsLeave() throws {
        let phone = try scene.anonymous()
        #expect("\(scene.authorize(rp, as: phone))" == refusal(403, "anonymous_not_allowed"))
        #expect(preview(as: phone)["anonymous_allowed"] == false)
        try app.change("UPDATE applications SET allow_anonymous_grants = 1")
        #expect(preview(as: phone)["anonymous_allowed"] == true)
        let claims = try scene.signIn(rp, as: phone).idClaims
        #expect(claims["anonymous"] == true && claims["previously_anonymous"] == false)
    }

    @Test(arguments: ["pending", "suspended"]) func onlyActiveApplicationsWork(status: String) throws {
        try app.change("UPDATE applications SET status = ?", status)
        #expect(scene.authorize(rp, as: person).error == "invalid_client")
    }

    // MARK: Grants

    @Test func aGrantGrowsAndItsSubStays() throws {
        _ = try scene.code(rp, as: person, scope: "openid")
        _ = try scene.code(rp, as: person, scope: "email")
        let id = person.userID
        #expect(try grants() == ["\(id) | \(id) | openid email | live"])
        #expect(scene.authorize(rp, as: person, scope: "email", ["prompt": "none"]).status == 200)
        try app.change("UPDATE grants SET revoked_at = created_at, sub = 'imported-7'")
        #expect(scene.authorize(rp, as: person, scope: "email", ["prompt": "none"]).error == "consent_required")
        #expect(try scene.signIn(rp, as: person, scope: "openid").idClaims.subject == "imported-7")
        #expect(try grants() == ["\(id) | imported-7 | openid | live"])
        #expect(try app.count("SELECT COUNT(*) FROM audit_log WHERE action = 'grant.created'") == 2)
    }

    /// After a merge or a swap.
    @Test func ofSeveralGrantsTheLiveOneOfTheUserIsUsedElseTheOldest() throws {
        let id = person.userID
        func add(_ sub: String, revoked: Bool = false) throws {
            try app.change(
                """
                INSERT INTO grants (user_id, application_id, sub, scopes, revoked_at)
                VALUES (?, ?, ?, 'openid', IF(?, NOW(3), NULL))
                """, id, rp.id, sub, revoked)
        }
        func sub() throws -> String? { try scene.signIn(rp, as: person, scope: "openid").idClaims.subject }
        try add("older", revoked: true)
        try add("old")
        try add("newer")
        #expect(try sub() == "old")
        try add("\(id)")
        #expect(try sub() == "\(id)")
        try app.change("UPDATE grants SET revoked_at = NOW(3) WHERE sub IN (?, 'old', 'newer')", "\(id)")
        #expect(try sub() == "\(id)")
        #expect(try app.count("SELECT COUNT(*) FROM grants") == 4)
    }

    @Test func simultaneousConsentsMakeOneGrant() throws {
        let members = scene.parameters(rp).map { ($0.0, JSONValue.string($0.1)) }
        let answers = app.atOnce(16) { [person] client, _ in
            client.send(.post, "/api/v1/oauth/authorize", .object(JSONObject(members)), token: person.token)
        }
        #expect(answers.allSatisfy { $0.status == 200 })
        #expect(Set(answers.compactMap { $0["code"]?.string }).count == 16)
        #expect(try grants().count == 1)
    }
}
