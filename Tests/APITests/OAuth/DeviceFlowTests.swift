import JOSE
import JSON
import MariaDB
import TestSupport
import Testing

/// The device flow (RFC 8628, accounts §2.11).
@Suite struct DeviceFlowTests {
    let scene: OAuthScene
    let rp: TestClient
    let person: Phone

    init() throws {
        scene = try OAuthScene()
        rp = try scene.register()
        person = try scene.person()
    }

    private func poll(_ device: WaitingDevice, by other: TestClient? = nil) throws -> String {
        try scene.poll(device, by: other ?? rp).oauthRefusal()
    }

    // MARK: Beginning

    @Test func theAnswerIsWhatADeviceShows() throws {
        let answer = scene.authorizeDevice(rp)
        #expect(answer.status == 200)
        #expect(answer.header("Cache-Control") == "no-store")
        #expect(answer.header("Access-Control-Allow-Origin") == nil)
        let userCode = try #require(answer["user_code"]?.string)
        #expect(userCode.wholeMatch(of: /[B-DF-HJ-NP-TV-XZ2-9]{4}-[B-DF-HJ-NP-TV-XZ2-9]{4}/) != nil, "\(userCode)")
        let deviceCode = try #require(answer["device_code"]?.string)
        #expect(deviceCode.wholeMatch(of: /[A-Za-z0-9_-]{43}/) != nil)
        #expect(
            answer.json == [
                "device_code": .string(deviceCode), "user_code": .string(userCode),
                "verification_uri": "https://id.example/oauth/device",
                "verification_uri_complete": .string("https://id.example/oauth/device?user_code=\(userCode)"),
                "expires_in": 600, "interval": 5,
            ])
    }

    @Test func beginningIsForClientsAndTheirScopes() throws {
        let confidential = try scene.register(confidential: true)
        func refusal(_ form: [(String, String?)], as rp: TestClient? = nil) throws -> String {
            try scene.post("/oauth/device_authorization", form, as: rp).oauthRefusal()
        }
        #expect(try refusal([("scope", "openid")]) == "400 invalid_request")
        #expect(try refusal([("scope", "openid"), ("client_id", "logi_unknown")]) == "401 invalid_client")
        #expect(try refusal([("scope", "openid"), ("client_id", confidential.clientID)]) == "401 invalid_client")
        #expect(try refusal([], as: rp) == "400 invalid_request")
        #expect(try refusal([("scope", "openid"), ("scope", "email")], as: rp) == "400 invalid_request")
        #expect(try refusal([("scope", "openid phone")], as: rp) == "400 invalid_scope")
        #expect(try scene.app.count("SELECT COUNT(*) FROM device_codes") == 0)
        #expect(scene.authorizeDevice(confidential).status == 200)
        // Space or plus; what has no effect needs no leave.
        #expect(scene.authorizeDevice(rp, scope: "openid offline_access").status == 200)
    }

    @Test(arguments: [("log_only", 0), ("alert", 1)]) func aPolicyMayDropScopes(policy: String, audited: Int) throws {
        try scene.app.change("UPDATE applications SET scope_policy = ?", policy)
        let device = try scene.device(rp, scope: "openid phone")
        #expect(scene.decide("approve", device, as: person).status == 200)
        let tokens = try Tokens(scene.poll(device, by: rp))
        #expect(tokens.answer["scope"] == "openid")
        #expect(tokens.answer.header("X-Logi-Scope-Drift") == "1")
        #expect(try scene.app.count("SELECT COUNT(*) FROM audit_log WHERE action = 'scope.dropped'") == audited)
    }

    // MARK: Deciding

    @Test func anApprovedDeviceGetsTokensOnce() throws {
        let device = try scene.device(rp)
        #expect(try poll(device) == "400 authorization_pending")
        let answer = scene.decide("approve", device, as: person)
        #expect("\(answer)" == #"200 {"status":"approved"}"#)
        let tokens = try Tokens(scene.poll(device, by: rp))
        #expect(tokens.answer["scope"] == "openid email")
        #expect(tokens.answer["expires_in"] == 900)
        let claims = try tokens.idClaims
        #expect(claims.subject == "\(person.userID)")
        #expect(claims["nonce"] == nil)
        #expect(claims.numericDate("auth_time") == 1_778_569_200)
        #expect(scene.userInfo(tokens.access)["email"] == "bea@example.com")
        #expect(scene.refresh(tokens.refresh, by: rp).status == 200)
        for _ in 1...2 { #expect(try poll(device) == "400 invalid_grant") }
        #expect(scene.userInfo(tokens.access).status == 200, "a second poll is no theft")
    }

    @Test func aDeniedDeviceGetsNothing() throws {
        let device = try scene.device(rp)
        #expect("\(scene.decide("deny", device, as: person))" == #"200 {"status":"denied"}"#)
        for _ in 1...2 { #expect(try poll(device) == "400 access_denied") }
        #expect(try scene.app.count("SELECT COUNT(*) FROM grants") == 0)
    }

    @Test func aCodeIsReadAsPeopleTypeIt() throws {
        for spell in [{ $0.lowercased() }, { $0.replacing("-", with: "") }, { " \($0.replacing("-", with: " - ")) " }]
            as [(String) -> String]
        {
            let device = try scene.device(rp)
            let typed = JSONValue.string(spell(device.userCode))
            #expect(scene.client.send(scene.decisionRequest("approve", typed, as: person)).status == 200, "\(typed)")
        }
    }

    @Test func unknownCodesAreNotFound() throws {
        let (decided, expired, suspended) = (
            try scene.device(rp), try scene.device(rp), try scene.device(try scene.register())
        )
        _ = scene.decide("deny", decided, as: person)
        try scene.app.change("UPDATE applications SET status = 'suspended' WHERE id <> ?", rp.id)
        func answer(_ code: String) -> String {
            "\(scene.client.send(scene.decisionRequest("approve", .string(code), as: person)))"
        }
        for code in ["BBBB-BBBB", "AEIO-U011", "BBBBBBBBB", "é", decided.userCode, suspended.userCode] {
            #expect(answer(code) == refusal(404, "unknown_user_code"), "\(code)")
        }
        scene.app.time.advance(by: .seconds(600))
        #expect(answer(expired.userCode) == refusal(404, "unknown_user_code"))
        #expect(try scene.app.count("SELECT COUNT(*) FROM grants") == 0)
    }

    @Test func theBodyIsChecked() throws {
        let device = try scene.device(rp)
        let code = JSONValue.string(device.userCode)
        for (decision, code) in [
            ("approve", nil), (nil, code), ("approve", ""), ("yes", code), (true, code), ("approve", 1),
        ]
            as [(JSONValue?, JSONValue?)]
        {
            let answer = scene.client.send(scene.decisionRequest(decision, code, as: person))
            #expect("\(answer)" == refusal(400, "invalid_request"), "\(decision as Any) \(code as Any)")
        }
        #expect(try poll(device) == "400 authorization_pending")
    }

    @Test func tenTriesInTenMinutesForEachPAK() throws {
        let device = try scene.device(rp)
        let other = try scene.person("other")
        let guess = scene.decisionRequest("approve", "BBBB-BBBB", as: person)
        for _ in 1...10 { #expect(scene.client.send(guess).status == 404) }
        let limited = scene.decide("approve", device, as: person)
        #expect("\(limited)" == refusal(429, "rate_limited"))
        #expect(limited.header("Retry-After") == "600")
        #expect(try poll(device) == "400 authorization_pending")
        scene.app.time.advance(by: .seconds(599))
        #expect(scene.decide("approve", device, as: person).header("Retry-After") == "1")
        #expect(scene.decide("approve", device, as: other).status == 200)
        scene.app.time.advance(by: .seconds(1))
        #expect(scene.client.send(guess).status == 404)
    }

    @Test func anonymousUsersNeedTheOperatorsLeave() throws {
        let phone = try scene.anonymous()
        let device = try scene.device(rp)
        #expect("\(scene.decide("approve", device, as: phone))" == refusal(403, "anonymous_not_allowed"))
        #expect(try scene.app.count("SELECT COUNT(*) FROM grants") == 0)
        // It waits for somebody who may.
        #expect(try poll(device) == "400 authorization_pending")
        #expect(scene.decide("deny", device, as: phone).status == 200)
        #expect(try poll(device) == "400 access_denied")

        let open = try scene.register(anonymous: true)
        let welcome = try scene.device(open)
        #expect(scene.decide("approve", welcome, as: phone).status == 200)
        #expect(try Tokens(scene.poll(welcome, by: open)).idClaims["anonymous"] == true)
    }

    @Test func theGrantIsTheOneOfOtherAuthorizations() throws {
        let tokens = try scene.signIn(rp, as: person, scope: "openid")
        let device = try scene.device(rp, scope: "email")
        _ = scene.decide("approve", device, as: person)
        #expect(try Tokens(scene.poll(device, by: rp)).accessClaims.subject == tokens.idClaims.subject)
        #expect(try scene.app.column("SELECT scopes FROM grants") == ["openid email"])
    }

    // MARK: Polling

    @Test func pollsThatComeTooEarlyGrowTheInterval() throws {
        let device = try scene.device(rp)
        let steps: [(wait: Int, answer: String)] = [
            (0, "authorization_pending"), (5, "authorization_pending"), (4, "slow_down"), (5, "slow_down"),
            (15, "authorization_pending"), (14, "slow_down"), (20, "authorization_pending"),
        ]
        for (number, step) in steps.enumerated() {
            scene.app.time.advance(by: .seconds(step.wait))
            #expect(try poll(device) == "400 \(step.answer)", "step \(number)")
        }
        // Whoever decides is not waited for.
        _ = scene.decide("approve", device, as: person)
        #expect(scene.poll(device, by: rp).status == 200)
    }

    @Test func aCodeExpires() throws {
        let (waiting, approved) = (try scene.device(rp), try scene.device(rp))
        _ = scene.decide("approve", approved, as: person)
        scene.app.time.advance(by: .milliseconds(599_999))
        #expect(try poll(waiting) == "400 authorization_pending")
        scene.app.time.advance(by: .milliseconds(1))
        #expect(try poll(waiting) == "400 expired_token")
        #expect(try poll(approved) == "400 expired_token")
    }

    @Test func othersCannotPoll() throws {
        let other = try scene.register(confidential: true)
        let device = try scene.device(rp)
        _ = scene.decide("approve", device, as: person)
        #expect(try poll(device, by: other) == "400 invalid_grant")
        #expect(try scene.post("/oauth/token", scene.pollForm("unknown"), as: rp).oauthRefusal() == "400 invalid_grant")
        let missing = Array(scene.pollForm("").prefix(1))
        #expect(try scene.post("/oauth/token", missing, as: rp).oauthRefusal() == "400 invalid_request")
        #expect(scene.poll(device, by: rp).status == 200)
    }

    @Test(arguments: ["UPDATE grants SET revoked_at = NOW(3)", "UPDATE users SET deleted_at = NOW(3)"])
    func whatWasAllowedMayBeGone(sql: String) throws {
        let device = try scene.device(rp)
        _ = scene.decide("approve", device, as: person)
        _ = try scene.app.database.connect().query(sql)
        #expect(scene.poll(device, by: rp).status == 400)
        #expect(try scene.app.count("SELECT COUNT(*) FROM refresh_families") == 0)
    }
}
