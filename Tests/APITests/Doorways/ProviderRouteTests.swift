import HTTP
import JOSE
import JSON
import Testing

/// From an approval in the server's own app to tokens, and what they are worth (accounts §2.5 to §2.9).
@Suite struct ProviderRouteTests {
    @Test(arguments: Doorway.allCases, [false, true])
    func aCodeIsWorthTokens(through doorway: Doorway, confidential: Bool) throws {
        let scene = try OAuthScene(through: doorway)
        let rp = try scene.register(confidential: confidential)
        let person = try scene.person()
        let tokens = try scene.signIn(rp, as: person, nonce: "n-1")
        #expect(tokens.answer["token_type"] == "Bearer")
        #expect(tokens.answer["expires_in"] == 900)
        #expect(tokens.answer["scope"] == "openid profile:basic email")
        #expect(tokens.answer.header("Cache-Control") == "no-store")
        #expect(tokens.answer.header("Access-Control-Allow-Origin") == "*")
        let claims = try tokens.idClaims
        #expect(claims.issuer == scene.app.publicURL)
        #expect(claims.subject == "\(person.userID)")
        #expect(claims["nonce"] == "n-1")
        #expect(claims["email"] == .string(scene.app.own("bea@example.com")))
        #expect(claims["linked_subs"] == [])
    }

    @Test(arguments: Doorway.allCases)
    func aCodeWorksOnceAndItsReplayEndsTheFamily(through doorway: Doorway) throws {
        let scene = try OAuthScene(through: doorway)
        let rp = try scene.register()
        let code = try scene.code(rp, as: try scene.person())
        let tokens = try Tokens(scene.exchange(code, by: rp))
        #expect(scene.exchange(code, by: rp).error == "invalid_grant")
        #expect(scene.refresh(tokens.refresh, by: rp).error == "invalid_grant")
        let told = try scene.app.column("SELECT event_type FROM webhook_outbox WHERE application_id = ?", rp.id)
        #expect(told == ["token.revoked"])
    }

    @Test(arguments: Doorway.allCases)
    func aRefreshRotatesAndItsLostAnswerIsRepeated(through doorway: Doorway) throws {
        let scene = try OAuthScene(through: doorway)
        let rp = try scene.register()
        let first = try scene.signIn(rp, as: try scene.person())
        let second = try Tokens(scene.refresh(first.refresh, by: rp))
        #expect(scene.refresh(first.refresh, by: rp).text == second.answer.text)
        let third = try Tokens(scene.refresh(second.refresh, by: rp))
        #expect(third.refresh != second.refresh)
        #expect(scene.refresh(first.refresh, by: rp).error == "invalid_grant")
        #expect(scene.refresh(third.refresh, by: rp).error == "invalid_grant")
    }

    @Test(arguments: Doorway.allCases) func aTokenIsWorthSomethingUntilItIsRevoked(through doorway: Doorway) throws {
        let scene = try OAuthScene(through: doorway)
        let rp = try scene.register(confidential: true)
        let person = try scene.person()
        let tokens = try scene.signIn(rp, as: person, scope: "openid email")
        for path in ["/oauth/userinfo", "/api/v1/oauth/userinfo"] {
            let answer = scene.userInfo(tokens.access, path: path)
            #expect(answer.status == 200 && answer["sub"] == .string("\(person.userID)"))
            #expect(answer["email"] == .string(scene.app.own("bea@example.com")))
            #expect(answer.header("Access-Control-Allow-Origin") == "*")
        }
        for token in [tokens.access, tokens.refresh] {
            let answer = scene.introspect(token, by: rp)
            #expect(answer["active"] == true && answer["sub"] == .string("\(person.userID)"))
            #expect(answer["client_id"] == .string(rp.clientID) && answer["scope"] == "openid email")
            #expect(answer.header("Access-Control-Allow-Origin") == nil)
        }

        #expect("\(scene.revoke(tokens.access, by: rp))" == "200 {}")
        #expect("\(scene.introspect(tokens.access, by: rp))" == #"200 {"active":false}"#)
        #expect(try scene.userInfo(tokens.access).oauthRefusal() == "401 invalid_token")
        #expect(scene.introspect(tokens.refresh, by: rp)["active"] == true)
        #expect("\(scene.revoke(tokens.refresh, by: rp))" == "200 {}")
        #expect(try scene.refresh(tokens.refresh, by: rp).oauthRefusal() == "400 invalid_grant")
    }

    // MARK: Refusals

    @Test(arguments: Doorway.allCases) func anAuthorizationIsRefused(through doorway: Doorway) throws {
        let scene = try OAuthScene(through: doorway)
        let (rp, person) = (try scene.register(), try scene.person())
        let denied = scene.authorize(rp, as: person, ["decision": "deny"])
        #expect(denied.status == 200 && denied.error == "access_denied")
        #expect(scene.authorize(rp, as: person, scope: "openid phone").error == "invalid_scope")
        let anonymous = scene.authorize(rp, as: try scene.anonymous())
        #expect("\(anonymous)" == refusal(403, "anonymous_not_allowed"))
        var stranger = person
        stranger.token = "lpk_live_unknown"
        #expect(scene.authorize(rp, as: stranger).status == 401)
    }

    @Test(arguments: Doorway.allCases) func aClientIsRefused(through doorway: Doorway) throws {
        let scene = try OAuthScene(through: doorway)
        let (open, confidential) = (try scene.register(), try scene.register(confidential: true))
        func refusal(_ path: String, _ form: [(String, String?)], as rp: TestClient? = nil) throws -> String {
            try scene.post(path, form, as: rp).oauthRefusal()
        }
        let refresh = scene.refreshForm("unknown")
        #expect(try refusal("/oauth/token", refresh) == "400 invalid_request")
        #expect(try refusal("/oauth/token", refresh, as: open) == "400 invalid_grant")
        #expect(try refusal("/oauth/token", [("grant_type", "password")], as: open) == "400 unsupported_grant_type")
        #expect(try refusal("/oauth/token", refresh + refresh, as: open) == "400 invalid_request")
        for path in ["/oauth/token", "/oauth/introspect", "/oauth/revoke"] {
            let stranger = [("client_id", Optional(confidential.clientID)), ("token", "x")]
            #expect(try refusal(path, refresh + stranger) == "401 invalid_client", "\(path)")
        }
        #expect(try refusal("/oauth/introspect", [("token", "x")], as: open) == "401 invalid_client")
        let wrong = scene.client.send(
            .post, "/oauth/token", bytes: encoded(refresh),
            headers: [("authorization", basic(confidential.clientID, "wrong"))])
        #expect(try wrong.oauthRefusal() == "401 invalid_client")
        #expect(wrong.header("WWW-Authenticate")?.hasPrefix("Basic realm=") == true)
        #expect(try scene.userInfo(nil).oauthRefusal() == "401 invalid_token")

        let get = scene.client.send(.get, "/oauth/token")
        #expect(try get.oauthRefusal() == "405 method_not_allowed")
        #expect(get.header("Allow") == "POST")
        let long = [("token", Optional(String(repeating: "x", count: 65_537)))]
        #expect(try refusal("/oauth/revoke", long, as: open) == "413 payload_too_large")
    }
}
