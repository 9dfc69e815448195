import HTTP
import JSON
import TestSupport
import Testing

/// POST /api/v1/me/device_keys/exchange (accounts §1.4).
@Suite struct DeviceKeyExchangeTests {
    let scene: OAuthScene
    let rp: TestClient
    let person: Phone

    init() throws {
        scene = try OAuthScene()
        rp = try scene.register()
        person = try scene.person()
    }

    private func request(
        _ token: String?, _ number: Int = 1, platform: JSONValue? = "ios", secret: String? = nil, key: String? = nil
    ) -> RepeatableRequest {
        RepeatableRequest(
            method: .post, path: "/api/v1/me/device_keys/exchange",
            body: ([:] as JSONValue).adding([
                "device_uuid": .string(uuid(number)), "platform": platform, "device_secret": secret.map { .string($0) },
            ]), token: token, headers: key.map { [("idempotency-key", $0)] } ?? [])
    }

    private func exchange(_ token: String?, _ number: Int = 1, secret: String? = nil) -> Answer {
        scene.client.send(request(token, number, secret: secret))
    }

    private var token: String { get throws { try scene.signIn(rp, as: person).access } }

    @Test func anUnknownDeviceIsCreatedForTheApplication() throws {
        let answer = exchange(try token)
        #expect(answer.status == 200, "\(answer)")
        #expect(answer.names == ["access_token", "token_type", "scopes", "device_id", "device", "device_secret"])
        #expect(answer.header("Cache-Control") == "no-store")
        #expect(answer["access_token"]?.string?.wholeMatch(of: /lpk_live_[A-Za-z0-9_-]{43}/) != nil)
        #expect(answer["device_secret"]?.string?.wholeMatch(of: /ds_[A-Za-z0-9_-]{43}/) != nil)
        #expect(answer["token_type"] == "Bearer")
        #expect(answer["scopes"] == ["profile:write"])
        let id = try #require(answer["device_id"])
        #expect(
            answer["device"] == [
                "id": id, "device_uuid": .string(uuid(1)), "platform": "ios", "attestation_verified": false,
                "first_seen_at": "2026-05-12T07:00:00Z", "last_seen_at": "2026-05-12T07:00:00Z",
            ])
        #expect(
            try scene.app.column("SELECT CONCAT_WS(' ', user_id, application_id) FROM devices WHERE id = ?", id.integer)
                == ["\(person.userID) \(rp.id)"])
    }

    @Test func theBoundKeyOpensNextToNothing() throws {
        let pak = try #require(exchange(try token)["access_token"]?.string)
        #expect(scene.client.send(.get, "/api/v1/me", token: pak).error == "insufficient_scope")
        #expect(scene.client.send(.patch, "/api/v1/me", ["name": "x"], token: pak).error == "insufficient_scope")
        #expect(scene.client.send(.delete, "/api/v1/auth/session", token: pak).status == 204)
    }

    @Test func theOperatorsOwnApplicationGetsAFullKey() throws {
        let own = try scene.register(firstParty: true)
        let answer = exchange(try scene.signIn(own, as: person).access)
        #expect(answer["scopes"]?.array?.count == 6)
        let pak = try #require(answer["access_token"]?.string)
        #expect(scene.client.send(.get, "/api/v1/me", token: pak)["user"]?["id"] == .integer(Int64(person.userID)))
        #expect(try scene.app.count("SELECT COUNT(*) FROM devices WHERE application_id IS NOT NULL") == 0)
    }

    @Test func aDeviceOfOnesOwnNeedsItsSecret() throws {
        let token = try token
        let first = exchange(token)
        let secret = try #require(first["device_secret"]?.string)
        scene.app.time.advance(by: .seconds(60))
        let again = exchange(token, secret: secret)
        #expect(again.status == 200, "\(again)")
        #expect(again["device_secret"] == nil)
        #expect(again["device_id"] == first["device_id"])
        #expect(again["device"]?["last_seen_at"] == "2026-05-12T07:01:00Z")
        #expect(again["access_token"] != first["access_token"])
        for wrong in [nil, "", "ds_wrong", secret + "x"] {
            #expect("\(exchange(token, secret: wrong))" == refusal(401, "invalid_device_secret"))
        }
        try scene.app.change("UPDATE devices SET secret_digest = NULL")
        #expect("\(exchange(token, secret: secret))" == refusal(401, "invalid_device_secret"))
    }

    @Test func aDeviceKeepsTheBindingItHas() throws {
        let own = try scene.register(firstParty: true)
        let bound = exchange(try token)
        let secret = try #require(bound["device_secret"]?.string)
        #expect(exchange(try scene.signIn(own, as: person).access, secret: secret)["scopes"] == ["profile:write"])
        // The phone's own device is full, and its secret is what opens it.
        let full = try scene.app.column("SELECT device_uuid FROM devices WHERE id = ?", person.deviceID)[0]
        let answer = scene.client.send(
            .post, "/api/v1/me/device_keys/exchange",
            ["device_uuid": .string(full), "platform": "ios", "device_secret": .string(person.secret)],
            token: try token)
        #expect(answer["scopes"]?.array?.count == 6)
        // A bound device stays bound when it starts by itself.
        let restarted = scene.client.send(
            .post, "/api/v1/devices",
            ["device_uuid": .string(uuid(1)), "platform": "ios", "device_secret": .string(secret)])
        #expect(restarted["scopes"] == ["profile:write"])
    }

    @Test func aDeviceOfAnotherIsRefused() throws {
        let other = try scene.client.bootstrap(1)
        for secret in [nil, other.secret] {
            #expect("\(exchange(try token, secret: secret))" == refusal(409, "device_claimed_by_other_user"))
        }
    }

    @Test func theUserIsTheCanonicalOne() throws {
        let token = try token
        let survivor = try scene.person("survivor")
        try scene.app.absorb(person.userID, into: survivor.userID)
        let answer = exchange(token)
        #expect(
            try scene.app.column("SELECT CAST(user_id AS CHAR) FROM devices WHERE id = ?", answer["device_id"]?.integer)
                == ["\(survivor.userID)"])
        let phone = try scene.anonymous()
        let open = try scene.register(anonymous: true)
        let anonymous = try scene.signIn(open, as: phone).access
        #expect(exchange(anonymous, 2).status == 200)
    }

    @Test func onlyLiveAccessTokensAreTaken() throws {
        let tokens = try scene.signIn(rp, as: person)
        let live = tokens.access
        func expectRefused(_ token: String?) {
            let answer = exchange(token)
            #expect("\(answer)" == refusal(401, "invalid_token"))
            #expect(answer.header("WWW-Authenticate") == #"Bearer error="invalid_token""#)
        }
        for token in [nil, tokens.refresh, tokens.id, person.token, try scene.resign(live, [:], type: "JWT")] {
            expectRefused(token)
        }
        _ = scene.revoke(live, by: rp)
        expectRefused(live)
        let expired = try token
        scene.app.time.advance(by: .seconds(900))
        expectRefused(expired)
        #expect(try scene.app.count("SELECT COUNT(*) FROM devices WHERE device_uuid = ?", uuid(1)) == 0)
    }

    @Test func theBodyIsCheckedAfterTheToken() throws {
        let token = try token
        func answer(_ body: JSONValue, _ token: String?) -> String {
            "\(scene.client.send(.post, "/api/v1/me/device_keys/exchange", body, token: token))"
        }
        #expect(answer(["device_uuid": 1], nil) == refusal(401, "invalid_token"))
        for body in [[:], ["device_uuid": "x", "platform": "ios"], ["device_uuid": 1, "platform": "ios"]] as [JSONValue]
        {
            #expect(answer(body, token) == refusal(400, "invalid_request"))
        }
        for platform in ["windows", "iOS"] as [JSONValue] {
            #expect("\(scene.client.send(request(token, platform: platform)))" == refusal(422, "unknown_platform"))
        }
        #expect("\(scene.client.send(request(token, platform: nil)))" == refusal(422, "unknown_platform"))
    }

    @Test func tenCallsAnHourForEachUserAndApplication() throws {
        let token = try token
        // Refused ones count as well.
        for number in 1...10 {
            #expect(exchange(token, number % 2).status == (number <= 2 ? 200 : 401), "call \(number)")
        }
        let limited = exchange(token, 3)
        #expect("\(limited)" == refusal(429, "rate_limited"))
        #expect(limited.header("Retry-After") == "3600")
        #expect(try scene.app.count("SELECT COUNT(*) FROM devices WHERE device_uuid = ?", uuid(3)) == 0)
        #expect(exchange(try scene.signIn(try scene.register(), as: person).access, 4).status == 200)
        #expect(exchange(try scene.signIn(rp, as: try scene.person("other")).access, 5).status == 200)
        scene.app.time.advance(by: .seconds(3600))
        #expect(exchange(try self.token, 3).status == 200)
    }

    @Test func aLostAnswerIsRepeated() throws {
        let token = try token
        let request = request(token, key: "key-1")
        let first = scene.client.send(request)
        _ = scene.revoke(token, by: rp)
        let again = scene.client.send(request)
        #expect(again.text == first.text)
        #expect(again.header("Idempotency-Replayed") == "true")
        #expect(scene.client.send(self.request(token, 2, key: "key-1")).error == "idempotency_key_reused")
        #expect(try scene.app.count("SELECT COUNT(*) FROM devices WHERE device_uuid = ?", uuid(1)) == 1)
    }

    @Test func aRefusalLeavesTheKeyFree() throws {
        let token = try token
        let other = try scene.client.bootstrap(1)
        let request = request(token, key: "key-1")
        #expect(scene.client.send(request).status == 409)
        #expect(try scene.app.count("SELECT COUNT(*) FROM idempotency_records") == 0)
        try scene.app.change("DELETE FROM devices WHERE id = ?", other.deviceID)
        #expect(scene.client.send(request).status == 200)
    }

    @Test func theHistoryTellsOfRefusals() throws {
        let token = try token
        let other = try scene.client.bootstrap(1)
        #expect(exchange(token).error == "device_claimed_by_other_user")
        #expect(exchange(token, 2).status == 200)
        for _ in 3...10 { #expect(exchange(token, 2).error == "invalid_device_secret") }
        #expect(exchange(token, 2).error == "rate_limited")
        func count(_ user: Int) throws -> Int {
            try scene.app.count("SELECT COUNT(*) FROM login_events WHERE event = 'refused' AND user_id = ?", user)
        }
        #expect(try count(person.userID) == 10 && count(other.userID) == 0)
    }

    @Test func theHistoryAndTheAuditLogTell() throws {
        let token = try token
        let id = try #require(
            scene.client.send(
                .post, "/api/v1/me/device_keys/exchange", ["device_uuid": .string(uuid(1)), "platform": "android"],
                token: token, headers: [("user-agent", "Shop/1.0")])["device_id"]?.integer)
        #expect(
            try scene.app.column(
                "SELECT CONCAT_WS(' ', user_id, event, ip, user_agent, platform) FROM login_events WHERE event = 'exchange'"
            )
                == ["\(person.userID) exchange 192.0.2.7 Shop/1.0 android"])
        #expect(
            try scene.app.column(
                "SELECT CONCAT_WS(' ', user_id, action, details) FROM audit_log ORDER BY id DESC LIMIT 2") == [
                    #"\#(person.userID) pak.issued {"device_id":\#(id)}"#,
                    #"\#(person.userID) device.created {"device_id":\#(id)}"#,
                ])
    }
}
