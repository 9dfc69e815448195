import HTTP
import JSON
import MariaDB
import TestSupport
import Testing
import Time

/// The refusals of POST /oauth/token (accounts §2.5, §2.6).
@Suite struct TokenRefusalTests {
    let scene: OAuthScene
    let open: TestClient
    let confidential: TestClient
    let person: Phone

    init() throws {
        scene = try OAuthScene()
        open = try scene.register()
        confidential = try scene.register(confidential: true)
        person = try scene.person()
    }

    private func refusal(_ form: [(String, String?)], as rp: TestClient? = nil) throws -> String {
        let answer = scene.post("/oauth/token", form, as: rp)
        #expect(answer.header("Access-Control-Allow-Origin") == "*")
        return try answer.oauthRefusal()
    }

    // MARK: Clients

    @Test func theClientIsAuthenticatedAndTheCodeIsKept() throws {
        let publicCode = try scene.code(open, as: person)
        let ofOpen = scene.codeForm(publicCode, of: open)
        let secretCode = try scene.code(confidential, as: person)
        let ofConfidential = scene.codeForm(secretCode, of: confidential)
        let id = { (rp: TestClient) in [("client_id", Optional(rp.clientID))] }
        func secret(_ text: String?) -> [(String, String?)] { [("client_secret", text)] }

        #expect(try refusal(ofOpen) == "400 invalid_request")
        #expect(try refusal(ofOpen + [("client_id", "logi_unknown")]) == "401 invalid_client")
        #expect(try refusal(ofOpen + id(open) + secret("x")) == "401 invalid_client")
        #expect(try refusal(ofConfidential + id(confidential)) == "401 invalid_client")
        #expect(try refusal(ofConfidential + id(confidential) + secret("x")) == "401 invalid_client")
        // Both ways at once, and two clients at once.
        #expect(try refusal(ofConfidential + secret(confidential.secret), as: confidential) == "400 invalid_request")
        #expect(try refusal(ofConfidential + id(open), as: confidential) == "400 invalid_request")
        #expect(try refusal(ofOpen + id(open) + id(open)) == "400 invalid_request")

        for status in ["pending", "suspended"] {
            try scene.app.change("UPDATE applications SET status = ?", status)
            #expect(try refusal(ofOpen, as: open) == "401 invalid_client")
        }
        try scene.app.change("UPDATE applications SET status = 'active'")
        #expect(scene.exchange(publicCode, by: open).status == 200)
        let byForm = ofConfidential + id(confidential) + secret(confidential.secret)
        #expect(scene.post("/oauth/token", byForm, as: nil).status == 200)
    }

    /// RFC 6749 §3.1: a parameter without a value counts as absent. Any other secret of a public client is refused
    /// (accounts §2.5).
    @Test func anEmptySecretIsNone() throws {
        let code = scene.codeForm(try scene.code(open, as: person), of: open)
        func send(_ form: [(String, String?)], _ authorization: String? = nil) -> Answer {
            scene.client.send(
                .post, "/oauth/token", bytes: encoded(form),
                headers: authorization.map { [("authorization", $0)] } ?? [])
        }
        let id = [("client_id", Optional(open.clientID))]
        for secret in ["x", " ", "\u{0}", "%"] {
            #expect(try send(code + id + [("client_secret", secret)]).oauthRefusal() == "401 invalid_client")
            #expect(try send(code, basic(open.clientID, secret)).oauthRefusal() == "401 invalid_client")
        }
        #expect(
            try send(code + id + [("client_secret", ""), ("client_secret", "")]).oauthRefusal() == "400 invalid_request"
        )
        #expect(send(code + id + [("client_secret", "")]).status == 200)
        let byBasic = scene.codeForm(try scene.code(open, as: person), of: open)
        #expect(send(byBasic + [("client_secret", ""), ("client_id", "")], basic(open.clientID, "")).status == 200)

        let closed = scene.codeForm(try scene.code(confidential, as: person), of: confidential)
        let empty = closed + [("client_id", confidential.clientID), ("client_secret", "")]
        #expect(try send(empty).oauthRefusal() == "401 invalid_client")
        #expect(try send(closed, basic(confidential.clientID, "")).oauthRefusal() == "401 invalid_client")
        let beside = closed + [("client_secret", ""), ("client_id", "")]
        #expect(send(beside, basic(confidential.clientID, confidential.secret ?? "")).status == 200)
    }

    @Test func basicIsAnsweredWithItsChallenge() throws {
        func challenge(_ authorization: String) -> String? {
            scene.client.send(
                .post, "/oauth/token", bytes: encoded([("grant_type", "refresh_token"), ("refresh_token", "x")]),
                headers: [("authorization", authorization)]
            ).header("WWW-Authenticate")
        }
        #expect(challenge(basic(confidential.clientID, "wrong"))?.hasPrefix("Basic realm=") == true)
        #expect(challenge(basic("logi_unknown", "x"))?.hasPrefix("Basic realm=") == true)
        let byForm = scene.post("/oauth/token", [("client_id", "logi_unknown")], as: nil)
        #expect(byForm.header("WWW-Authenticate") == nil)
    }

    @Test func bothPartsOfBasicAreFormDecoded() throws {
        try scene.app.change(
            "UPDATE applications SET client_id = 'logi_a:b +', secret_digest = UNHEX(SHA2('p:w %/+', 256)) WHERE id = ?",
            confidential.id)
        let answer = scene.client.send(
            .post, "/oauth/token", bytes: encoded([("grant_type", "refresh_token"), ("refresh_token", "x")]),
            headers: [("authorization", basic("logi_a%3Ab+%2B", "p%3Aw+%25/%2B"))])
        #expect(try answer.oauthRefusal() == "400 invalid_grant")
    }

    /// Many clients do not encode it, among them curl and Python's requests.
    @Test func theSecretInBasicMayBeSentAsItIs() throws {
        let tokens = try scene.signIn(confidential, as: person)
        try scene.app.change(
            "UPDATE applications SET secret_digest = UNHEX(SHA2('p:w %/+', 256)) WHERE id = ?", confidential.id)
        func send(_ path: String, _ form: [(String, String?)], _ secret: String) -> Answer {
            scene.client.send(
                .post, path, bytes: encoded(form),
                headers: [("authorization", basic(confidential.clientID, secret))])
        }
        // Neither as it is nor decoded.
        for wrong in ["p:w %/", "p:w+%/+", "p%3Aw %/+", "p:w %25/+"] {
            for token in [tokens.refresh, "x"] {
                let answer = send("/oauth/token", scene.refreshForm(token), wrong)
                #expect(try answer.oauthRefusal() == "401 invalid_client", "\(wrong)")
            }
            for token in [tokens.access, tokens.refresh] {
                let answer = send("/oauth/introspect", [("token", token)], wrong)
                #expect(try answer.oauthRefusal() == "401 invalid_client", "\(wrong)")
            }
        }
        for right in ["p:w %/+", "p%3Aw+%25/%2B"] {
            #expect(try send("/oauth/token", scene.refreshForm("x"), right).oauthRefusal() == "400 invalid_grant")
            for token in [tokens.access, tokens.refresh] {
                #expect(send("/oauth/introspect", [("token", token)], right)["active"] == true, "\(right)")
            }
        }
        #expect(send("/oauth/token", scene.refreshForm(tokens.refresh), "p:w %/+").status == 200)
    }

    @Test func theSecretBeforeTheLastWorksForItsDay() throws {
        try scene.app.change(
            """
            UPDATE applications SET previous_secret_digest = secret_digest, secret_digest = UNHEX(SHA2('new', 256)),
                                    previous_secret_expires_at = ? WHERE id = ?
            """, scene.app.time.now + .seconds(86_400), confidential.id)
        let form: [(String, String?)] = [("grant_type", "refresh_token"), ("refresh_token", "x")]
        #expect(try refusal(form, as: confidential) == "400 invalid_grant")
        scene.app.time.advance(by: .seconds(86_400))
        #expect(try refusal(form, as: confidential) == "401 invalid_client")
    }

    // MARK: Codes

    @Test func everyParameterIsNeededOnce() throws {
        let code = try scene.code(open, as: person)
        let form = scene.codeForm(code, of: open)
        for (name, expected) in [
            ("grant_type", "400 invalid_request"), ("code", "400 invalid_request"),
            ("redirect_uri", "400 invalid_request"), ("code_verifier", "400 invalid_grant"),
        ] {
            #expect(try refusal(form.filter { $0.0 != name }, as: open) == expected, "without \(name)")
            #expect(try refusal(form.map { ($0.0, $0.0 == name ? "" : $0.1) }, as: open) == expected, "empty \(name)")
            #expect(
                try refusal(form + form.filter { $0.0 == name }, as: open) == "400 invalid_request", "two of \(name)")
        }
        for type in ["password", "client_credentials", "AUTHORIZATION_CODE", "implicit"] {
            let other = form.map { ($0.0, $0.0 == "grant_type" ? type : $0.1) }
            #expect(try refusal(other, as: open) == "400 unsupported_grant_type")
        }
        #expect(scene.exchange(code, by: open).status == 200, "a failed attempt does not consume the code")
    }

    @Test(arguments: [false, true]) func aCodeIsForWhomItWasMade(isConfidential: Bool) throws {
        let rp = isConfidential ? confidential : open
        let code = try scene.code(rp, as: person)
        let form = scene.codeForm(code, of: rp)
        func with(_ name: String, _ value: String) -> [(String, String?)] {
            form.map { ($0.0, $0.0 == name ? value : $0.1) }
        }
        let verifier = OAuthScene.verifier
        for wrong in [
            String(verifier.dropLast()), verifier + "A", verifier.lowercased(), OAuthScene.challenge,
            String(verifier.prefix(42)), String(repeating: "a", count: 129), "é" + verifier.dropFirst(2),
            verifier.dropLast() + "+", verifier.dropLast() + " ",
        ] {
            #expect(try refusal(with("code_verifier", wrong), as: rp) == "400 invalid_grant", "\(wrong)")
        }
        for wrong in [rp.redirectURI + "/", rp.redirectURI.uppercased(), "com.example.shop:/callback"] {
            #expect(try refusal(with("redirect_uri", wrong), as: rp) == "400 invalid_grant", "\(wrong)")
        }
        for wrong in ["unknown", code + "x", code + " ", code.lowercased()] {
            #expect(try refusal(with("code", wrong), as: rp) == "400 invalid_grant", "\(wrong)")
        }
        #expect(try refusal(form, as: isConfidential ? open : confidential) == "400 invalid_grant")
        #expect(scene.exchange(code, by: rp).status == 200)
    }

    @Test func aCodeLivesFiveMinutes() throws {
        let (early, late) = (try scene.code(open, as: person), try scene.code(open, as: person))
        scene.app.time.advance(by: .milliseconds(299_999))
        #expect(scene.exchange(early, by: open).status == 200)
        scene.app.time.advance(by: .milliseconds(1))
        #expect(try scene.exchange(late, by: open).oauthRefusal() == "400 invalid_grant")
    }

    @Test func onlyItsOwnClientsReplayEndsTheFamily() throws {
        let code = try scene.code(open, as: person)
        let tokens = try Tokens(scene.exchange(code, by: open))
        #expect(
            try refusal(scene.codeForm(code, of: open), as: confidential) == "400 invalid_grant", "another client's")
        #expect(scene.userInfo(tokens.access).status == 200)
        scene.app.time.advance(by: .seconds(400))
        #expect(try scene.exchange(code, by: open).oauthRefusal() == "400 invalid_grant")
        #expect(scene.userInfo(tokens.access).status == 401)
        #expect(try scene.refresh(tokens.refresh, by: open).oauthRefusal() == "400 invalid_grant")
        try expectEvent("code_replay")
    }

    private func expectEvent(_ reason: String) throws {
        let payloads = try scene.app.column("SELECT raw_payload FROM webhook_outbox")
        #expect(payloads.count == 1)
        let event = try JSONValue(json: Array(try #require(payloads.first).utf8))
        #expect(event["event_type"] == "token.revoked")
        #expect(
            event["data"] == [
                "sub": .string("\(person.userID)"), "canonical_sub": .string("\(person.userID)"),
                "reason": .string(reason),
            ])
    }

    // MARK: Refresh

    @Test func theScopeMayBeNarrowedAndWidenedAgain() throws {
        let first = try scene.signIn(open, as: person)
        let narrow = try Tokens(scene.refresh(first.refresh, by: open, scope: "email openid"))
        #expect(narrow.answer["scope"] == "email openid")
        #expect(scene.userInfo(narrow.access)["full_name"] == nil)
        #expect(
            try scene.refresh(narrow.refresh, by: open, scope: "openid phone").oauthRefusal() == "400 invalid_scope")
        let wide = try Tokens(scene.refresh(narrow.refresh, by: open))
        #expect(wide.answer["scope"] == "openid profile:basic email")
    }

    @Test func theLastAnswerIsRepeatedForThirtySeconds() throws {
        let first = try scene.signIn(open, as: person)
        let second = scene.refresh(first.refresh, by: open, scope: "openid")
        scene.app.time.advance(by: .seconds(30))
        for _ in 1...2 { #expect(scene.refresh(first.refresh, by: open, scope: "openid").text == second.text) }
        #expect(try scene.app.count("SELECT COUNT(*) FROM refresh_tokens") == 2)
        scene.app.time.advance(by: .milliseconds(1))
        #expect(try scene.refresh(first.refresh, by: open, scope: "openid").oauthRefusal() == "400 invalid_grant")
        #expect(scene.userInfo(try Tokens(second).access).status == 401)
        try expectEvent("refresh_reuse")
    }

    @Test func anotherScopeParameterIsNoRepetition() throws {
        let first = try scene.signIn(open, as: person)
        let second = try Tokens(scene.refresh(first.refresh, by: open, scope: "openid"))
        #expect(try scene.refresh(first.refresh, by: open).oauthRefusal() == "400 invalid_grant")
        #expect(try scene.refresh(second.refresh, by: open).oauthRefusal() == "400 invalid_grant")
        try expectEvent("refresh_reuse")
    }

    @Test func aUsedSuccessorEndsTheRepetition() throws {
        let first = try scene.signIn(open, as: person)
        let second = try Tokens(scene.refresh(first.refresh, by: open))
        let third = try Tokens(scene.refresh(second.refresh, by: open))
        #expect(try scene.refresh(first.refresh, by: open).oauthRefusal() == "400 invalid_grant")
        for tokens in [first, second, third] { #expect(scene.userInfo(tokens.access).status == 401) }
        #expect(try scene.refresh(third.refresh, by: open).oauthRefusal() == "400 invalid_grant")
        try expectEvent("refresh_reuse")
    }

    @Test func anotherClientsTokenIsLeftAlone() throws {
        let tokens = try scene.signIn(open, as: person)
        let next = try Tokens(scene.refresh(tokens.refresh, by: open))
        for token in [tokens.refresh, next.refresh] {
            #expect(try scene.refresh(token, by: confidential).oauthRefusal() == "400 invalid_grant")
        }
        #expect(scene.userInfo(next.access).status == 200)
        #expect(scene.refresh(next.refresh, by: open).status == 200)
    }

    /// Whatever the token is, and whatever else is wrong: the client is authenticated before anything is said or changed.
    @Test(arguments: [false, true]) func aRefreshAuthenticatesItsClientFirst(isConfidential: Bool) throws {
        let rp = isConfidential ? confidential : open
        let retired = try scene.signIn(rp, as: person)
        let current = try Tokens(scene.refresh(retired.refresh, by: rp))
        let others = try scene.signIn(isConfidential ? open : confidential, as: person)
        scene.app.time.advance(by: .seconds(31))
        func like(_ id: String, _ secret: String?) -> TestClient {
            TestClient(id: rp.id, clientID: id, secret: secret, redirectURI: rp.redirectURI)
        }
        let wrong = isConfidential ? [like(rp.clientID, "x"), like(rp.clientID, nil)] : [like(rp.clientID, "x")]
        let requests: [[(String, String?)]] =
            [current.refresh, retired.refresh, others.refresh, "unknown"].map { scene.refreshForm($0) } + [
                scene.refreshForm(current.refresh, scope: "openid phone"), [("grant_type", "refresh_token")],
                scene.refreshForm(current.refresh) + [("scope", "openid"), ("scope", "email")],
            ]
        for client in wrong + [like("logi_unknown", rp.secret), like("é", rp.secret)] {
            for request in requests { #expect(try refusal(request, as: client) == "401 invalid_client") }
            #expect(
                try scene.refresh(current.refresh, by: client, key: "short").oauthRefusal() == "401 invalid_client")
        }
        for status in ["pending", "suspended"] {
            try scene.app.change("UPDATE applications SET status = ?", status)
            for request in requests { #expect(try refusal(request, as: rp) == "401 invalid_client") }
        }
        try scene.app.change("UPDATE applications SET status = 'active'")
        let next = try Tokens(scene.refresh(current.refresh, by: rp))
        #expect(scene.userInfo(next.access).status == 200)
        #expect(try scene.app.count("SELECT COUNT(*) FROM refresh_families WHERE revoked_at IS NOT NULL") == 0)
    }

    /// KELVIN SIGN is canonically equivalent to K, but is another byte sequence.
    @Test func aClientIDIsComparedByteForByte() throws {
        try scene.app.change("UPDATE applications SET client_id = 'Kiosk' WHERE id = ?", open.id)
        let kiosk = TestClient(id: open.id, clientID: "Kiosk", secret: nil, redirectURI: open.redirectURI)
        let tokens = try scene.signIn(kiosk, as: person)
        #expect(
            try refusal(scene.refreshForm(tokens.refresh) + [("client_id", "\u{212A}iosk")]) == "401 invalid_client")
        #expect(scene.refresh(tokens.refresh, by: kiosk).status == 200)
    }

    @Test func aRefreshTokenLivesThirtyDaysFromItsOwnIssue() throws {
        var tokens = try scene.signIn(open, as: person)
        scene.app.time.advance(by: .seconds(30 * 86_400 - 1))
        tokens = try Tokens(scene.refresh(tokens.refresh, by: open))
        scene.app.time.advance(by: .seconds(30 * 86_400 - 1))
        tokens = try Tokens(scene.refresh(tokens.refresh, by: open))
        scene.app.time.advance(by: .seconds(30 * 86_400))
        #expect(try scene.refresh(tokens.refresh, by: open).oauthRefusal() == "400 invalid_grant")
    }

    @Test(arguments: ["UPDATE grants SET revoked_at = NOW(3)", "UPDATE users SET deleted_at = NOW(3)"])
    func whatItStandsOnMayBeGone(sql: String) throws {
        let tokens = try scene.signIn(open, as: person)
        let code = try scene.code(open, as: person)
        _ = try scene.app.database.connect().query(sql)
        #expect(try scene.refresh(tokens.refresh, by: open).oauthRefusal() == "400 invalid_grant")
        #expect(try scene.exchange(code, by: open).oauthRefusal() == "400 invalid_grant")
    }

    @Test func refreshNeedsItsToken() throws {
        #expect(try refusal([("grant_type", "refresh_token")], as: open) == "400 invalid_request")
        for unknown in ["unknown", person.token, "é", String(repeating: "x", count: 10_000)] {
            #expect(try scene.refresh(unknown, by: open).oauthRefusal() == "400 invalid_grant")
        }
    }

    // MARK: The answer

    @Test(arguments: [false, true]) func theAnswerHasTheseMembersInThisOrder(isRefresh: Bool) throws {
        let rp = isRefresh ? confidential : open
        var tokens = try scene.signIn(rp, as: person, scope: "openid")
        if isRefresh { tokens = try Tokens(scene.refresh(tokens.refresh, by: rp)) }
        #expect(
            tokens.answer.names == ["access_token", "token_type", "expires_in", "scope", "refresh_token", "id_token"])
        #expect(tokens.answer["expires_in"] == 900)
        #expect(tokens.answer.header("Content-Type") == "application/json")
        #expect(tokens.answer.header("Cache-Control") == "no-store")
        #expect(tokens.answer.header("X-Logi-Scope-Drift") == nil)
        #expect(tokens.refresh.wholeMatch(of: /[A-Za-z0-9._~-]+/) != nil)
    }

    @Test func clientsThatEscapeNothingAreUnderstood() throws {
        let https = try scene.register(redirectURIs: ["https://shop.example/cb?x=1"])
        let code = try scene.code(https, as: person)
        let body =
            "grant_type=authorization_code&code=\(code)&redirect_uri=https://shop.example/cb?x=1"
            + "&client_id=\(https.clientID)&code_verifier=\(OAuthScene.verifier)&unknown=ignored&unknown=twice"
        #expect(scene.client.send(.post, "/oauth/token", bytes: Array(body.utf8)).status == 200)
    }
}
