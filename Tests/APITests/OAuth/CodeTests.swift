import JSON
import Testing

/// POST /oauth/token with a code (accounts §2.5).
@Suite struct CodeTests {
    let scene: OAuthScene

    init() throws { scene = try OAuthScene() }

    @Test(arguments: [false, true]) func aCodeIsWorthTokens(confidential: Bool) throws {
        let rp = try scene.register(confidential: confidential)
        let person = try scene.person()
        let tokens = try scene.signIn(rp, as: person, nonce: "n-1")
        #expect(tokens.answer["token_type"] == "Bearer")
        #expect(tokens.answer["expires_in"] == 900)
        #expect(tokens.answer["scope"] == "openid profile:basic email")
        #expect(tokens.answer.header("Cache-Control") == "no-store")
        let claims = try tokens.idClaims
        #expect(claims.issuer == TestApp.issuer)
        #expect(claims.subject == "\(person.userID)")
        #expect(claims["nonce"] == "n-1")
        #expect(claims["email"] == "bea@example.com")
        #expect(claims["linked_subs"] == [])
    }

    @Test func aCodeWorksOnceAndItsReplayEndsTheFamily() throws {
        let rp = try scene.register()
        let code = try scene.code(rp, as: try scene.person())
        let tokens = try Tokens(scene.exchange(code, by: rp))
        #expect(scene.exchange(code, by: rp).error == "invalid_grant")
        #expect(scene.refresh(tokens.refresh, by: rp).error == "invalid_grant")
        #expect(try scene.app.count("SELECT COUNT(*) FROM webhook_outbox WHERE event_type = 'token.revoked'") == 1)
    }

    @Test func aRefreshRotatesAndItsLostAnswerIsRepeated() throws {
        let rp = try scene.register()
        let first = try scene.signIn(rp, as: try scene.person())
        let second = try Tokens(scene.refresh(first.refresh, by: rp))
        #expect(scene.refresh(first.refresh, by: rp).text == second.answer.text)
        let third = try Tokens(scene.refresh(second.refresh, by: rp))
        #expect(third.refresh != second.refresh)
        #expect(scene.refresh(first.refresh, by: rp).error == "invalid_grant")
        #expect(scene.refresh(third.refresh, by: rp).error == "invalid_grant")
    }
}
