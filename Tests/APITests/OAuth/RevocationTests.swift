import TestSupport
import Testing

/// POST /oauth/revoke (accounts §2.9).
@Suite struct RevocationTests {
    let scene: OAuthScene
    let rp: TestClient
    let person: Phone

    init() throws {
        scene = try OAuthScene()
        rp = try scene.register()
        person = try scene.person()
    }

    private func isAlive(_ tokens: Tokens) -> Bool { scene.userInfo(tokens.access).status == 200 }

    private func expectDone(_ answer: Answer, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect("\(answer)" == "200 {}", sourceLocation: sourceLocation)
        #expect(answer.header("Cache-Control") == "no-store", sourceLocation: sourceLocation)
        #expect(answer.header("Access-Control-Allow-Origin") == "*", sourceLocation: sourceLocation)
    }

    @Test(arguments: [nil, "access_token", "refresh_token", "other"] as [String?])
    func anAccessTokenGoesAlone(hint: String?) throws {
        let tokens = try scene.signIn(rp, as: person)
        let sister = try Tokens(scene.refresh(tokens.refresh, by: rp))
        let answer = scene.post("/oauth/revoke", [("token", tokens.access), ("token_type_hint", hint)], as: rp)
        expectDone(answer)
        #expect(!isAlive(tokens))
        #expect(isAlive(sister))
        #expect(scene.refresh(sister.refresh, by: rp).status == 200)
        expectDone(scene.revoke(tokens.access, by: rp))
    }

    @Test(arguments: [false, true]) func aRefreshTokenTakesItsFamilyWithIt(isRetired: Bool) throws {
        let other = try scene.signIn(rp, as: person)
        let first = try scene.signIn(rp, as: person)
        let second = try Tokens(scene.refresh(first.refresh, by: rp))
        expectDone(scene.revoke(isRetired ? first.refresh : second.refresh, by: rp))
        #expect(!isAlive(first))
        #expect(!isAlive(second))
        #expect(try scene.refresh(second.refresh, by: rp).oauthRefusal() == "400 invalid_grant")
        // Not even the answer that could have been repeated.
        #expect(try scene.refresh(first.refresh, by: rp).oauthRefusal() == "400 invalid_grant")
        #expect(isAlive(other))
        expectDone(scene.revoke(second.refresh, by: rp))
    }

    @Test func theRelyingPartyKnowsSoNobodyIsTold() throws {
        let tokens = try scene.signIn(rp, as: person)
        _ = scene.revoke(tokens.refresh, by: rp)
        _ = scene.refresh(tokens.refresh, by: rp)
        #expect(try scene.app.count("SELECT COUNT(*) FROM webhook_outbox") == 0)
    }

    @Test func tokensOfOthersStayValid() throws {
        let other = try scene.register(confidential: true)
        let tokens = try scene.signIn(rp, as: person)
        for token in [tokens.access, tokens.refresh, try #require(tokens.id), "unknown", person.token] {
            try scene.app.expectUnchanged { expectDone(scene.revoke(token, by: other)) }
        }
        #expect(isAlive(tokens))
        #expect(scene.refresh(tokens.refresh, by: rp).status == 200)
    }

    @Test func anExpiredTokenLeavesNothingBehind() throws {
        let tokens = try scene.signIn(rp, as: person)
        scene.app.time.advance(by: .seconds(900))
        try scene.app.expectUnchanged { expectDone(scene.revoke(tokens.access, by: rp)) }
    }

    @Test func theClientIsAuthenticated() throws {
        let confidential = try scene.register(confidential: true)
        let tokens = try scene.signIn(confidential, as: person)
        func refusal(_ form: [(String, String?)], as rp: TestClient? = nil) throws -> String {
            try scene.post("/oauth/revoke", form, as: rp).oauthRefusal()
        }
        let token = ("token", Optional(tokens.access))
        #expect(try refusal([token]) == "400 invalid_request")
        #expect(try refusal([token, ("client_id", confidential.clientID)]) == "401 invalid_client")
        #expect(
            try refusal([token, ("client_id", confidential.clientID), ("client_secret", "x")]) == "401 invalid_client")
        #expect(try refusal([token, ("client_id", rp.clientID), ("client_secret", "x")]) == "401 invalid_client")
        #expect(try refusal([token, ("client_id", "logi_unknown")]) == "401 invalid_client")
        #expect(try refusal([], as: rp) == "400 invalid_request")
        #expect(try refusal([token, token], as: rp) == "400 invalid_request")
        #expect(isAlive(tokens))
        expectDone(
            scene.post(
                "/oauth/revoke",
                [token, ("client_id", confidential.clientID), ("client_secret", confidential.secret)], as: nil))
        #expect(!isAlive(tokens))
    }
}
