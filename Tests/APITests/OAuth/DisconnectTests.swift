import HTTP
import JOSE
import JSON
import Testing

/// `DELETE /api/v1/me/connected_apps/{client_id}` (accounts §4.4).
@Suite struct DisconnectTests {
    let scene: OAuthScene
    let app: TestApp
    let rp: TestClient
    let person: Phone

    init() throws {
        scene = try OAuthScene()
        app = scene.app
        rp = try scene.register()
        person = try scene.person()
    }

    private func path(_ clientID: String) -> String { "/api/v1/me/connected_apps/\(clientID)" }

    private func disconnect(_ clientID: String, as token: String) -> Answer {
        scene.client.send(.delete, path(clientID), token: token)
    }

    /// A PAK that is bound to the application of the access token, on a device of its own.
    private func boundPAK(_ access: String, on number: Int = 1) throws -> String {
        let answer = scene.client.send(
            .post, "/api/v1/me/device_keys/exchange", ["device_uuid": .string(uuid(number)), "platform": "ios"],
            token: access)
        return try #require(answer["access_token"]?.string, "\(answer)")
    }

    /// A device that the person has approved and that has not polled since.
    private func approvedDevice() throws -> WaitingDevice {
        let device = try scene.device(rp)
        let answer = scene.client.send(scene.decisionRequest("approve", .string(device.userCode), as: person))
        try #require(answer.status == 200, "\(answer)")
        return device
    }

    /// The events of an application as they were written, without id and time.
    private func events(of rp: TestClient) throws -> [String] {
        try app.column(
            """
            SELECT CONCAT(event_type, ' ', SUBSTRING_INDEX(
                SUBSTRING(CONVERT(raw_payload USING utf8mb4), 1 + LENGTH('{"data":')), ',"event_id":', 1))
            FROM webhook_outbox WHERE application_id = ? ORDER BY event_id
            """, rp.id)
    }

    @Test func everythingGivenOutEnds() throws {
        let (first, second) = (try scene.signIn(rp, as: person), try scene.signIn(rp, as: person))
        let pak = try boundPAK(first.access)
        let (code, device) = (try scene.code(rp, as: person), try approvedDevice())
        let (other, neighbor) = (try scene.register("Other"), try scene.person("neighbor", email: nil))
        let (elsewhere, theirs) = (try scene.signIn(other, as: person), try scene.signIn(rp, as: neighbor))
        let boundElsewhere = try boundPAK(elsewhere.access, on: 2)

        let answer = disconnect(rp.clientID, as: person.token)
        #expect(answer.status == 204 && answer.text.isEmpty, "\(answer)")
        #expect(try app.column("SELECT live_paks FROM devices WHERE application_id IS NOT NULL") == ["NULL", "NULL"])

        for tokens in [first, second] {
            #expect(scene.userInfo(tokens.access).status == 401)
            #expect(try scene.refresh(tokens.refresh, by: rp).oauthRefusal() == "400 invalid_grant")
        }
        #expect(try scene.exchange(code, by: rp).oauthRefusal() == "400 invalid_grant")
        #expect(scene.poll(device, by: rp).error == "access_denied")
        #expect(scene.client.send(.delete, "/api/v1/auth/session", token: pak).status == 401)
        let listed = scene.client.send(.get, "/api/v1/me/connected_apps", token: person.token)
        #expect(listed["connected_apps"]?.array?.compactMap { $0["client_id"]?.string } == [other.clientID])

        // Nothing of anybody else, nor anything elsewhere.
        #expect(scene.userInfo(elsewhere.access).status == 200 && scene.userInfo(theirs.access).status == 200)
        #expect(scene.refresh(theirs.refresh, by: rp).status == 200)
        #expect(scene.client.send(.delete, "/api/v1/auth/session", token: boundElsewhere).status == 204)

        let sub = person.userID
        let said = #""canonical_sub":"\#(sub)","reason":"user_disconnected""#
        #expect(
            try events(of: rp) == [
                #"token.revoked {\#(said),"sub":"\#(sub)"}"#,
                #"consent.revoked {\#(said),"scopes":["openid","profile:basic","email"],"sub":"\#(sub)"}"#,
                #"user.grants_revoked {\#(said),"sub":"\#(sub)"}"#,
            ])
        #expect(try events(of: other).isEmpty)
        #expect(
            try app.column(
                """
                SELECT CONCAT_WS(' ', user_id, actor, action, details) FROM audit_log
                WHERE action IN ('grant.revoked', 'pak.revoked') AND details LIKE '%user_disconnected%' ORDER BY id
                """) == [
                    #"\#(sub) user:\#(sub) pak.revoked {"count":1,"reason":"user_disconnected"}"#,
                    #"\#(sub) user:\#(sub) grant.revoked "#
                        + #"{"client_id":"\#(rp.clientID)","sub":"\#(sub)","reason":"user_disconnected"}"#,
                ])
    }

    @Test func whatIsNotConnectedIsNotFound() throws {
        let stranger = try scene.register("Stranger")
        _ = try scene.signIn(rp, as: person)
        #expect(disconnect(rp.clientID, as: person.token).status == 204)
        try app.expectUnchanged {
            for clientID in [rp.clientID, stranger.clientID, "logi_none", "%00", "\(rp.clientID)\0", "é"] {
                #expect("\(disconnect(clientID, as: person.token))" == refusal(404, "not_connected"), "\(clientID)")
            }
        }
    }

    @Test(arguments: ["pending", "suspended"]) func whatDoesNotWorkCanBeLeft(status: String) throws {
        _ = try scene.signIn(rp, as: person)
        try app.change("UPDATE applications SET status = ? WHERE id = ?", status, rp.id)
        #expect(disconnect(rp.clientID, as: person.token).status == 204)
        #expect(try events(of: rp).count == 3)
    }

    @Test func anonymousPeopleMayToo() throws {
        let open = try scene.register(anonymous: true)
        let phone = try scene.anonymous()
        let tokens = try scene.signIn(open, as: phone)
        #expect(disconnect(open.clientID, as: phone.token).status == 204)
        #expect(scene.userInfo(tokens.access).status == 401)
    }

    @Test func newConsentHasTheSameSubAndRevivesNothing() throws {
        let before = try scene.signIn(rp, as: person)
        let (code, device) = (try scene.code(rp, as: person), try approvedDevice())
        #expect(disconnect(rp.clientID, as: person.token).status == 204)
        let preview = scene.client.send(
            .get,
            "/api/v1/oauth/authorize/preview?"
                + String(decoding: encoded(scene.parameters(rp).map { ($0.0, $0.1) }), as: UTF8.self),
            token: person.token)
        #expect(preview["consent_required"] == true, "\(preview)")

        let after = try scene.signIn(rp, as: person, scope: "openid")
        #expect(try after.idClaims["sub"] == before.idClaims["sub"])
        #expect(try app.column("SELECT CONCAT_WS(' ', scopes, revoked_at) FROM grants") == ["openid"])
        #expect(scene.userInfo(before.access).status == 401)
        #expect(scene.refresh(before.refresh, by: rp).error == "invalid_grant")
        #expect(scene.exchange(code, by: rp).error == "invalid_grant")
        #expect(scene.poll(device, by: rp).error == "access_denied")
        #expect(scene.userInfo(after.access).status == 200)

        #expect(disconnect(rp.clientID, as: person.token).status == 204)
        #expect(try events(of: rp).count == 6)
    }

    /// A merge leaves several grants. Each has its own sub, and the relying party is informed of each.
    @Test func everyGrantEnds() throws {
        let absorbed = try scene.person("absorbed", email: nil)
        let idle = try scene.person("idle", email: nil)
        for phone in [absorbed, idle, person] { _ = try scene.signIn(rp, as: phone) }
        let old = try scene.signIn(rp, as: absorbed, scope: "openid")
        // One of them ended before.
        #expect(disconnect(rp.clientID, as: idle.token).status == 204)
        for phone in [absorbed, idle] { try scene.merge(phone.userID, into: person.userID) }
        try app.change("DELETE FROM webhook_outbox")

        #expect(disconnect(rp.clientID, as: person.token).status == 204)
        #expect(scene.userInfo(old.access).status == 401)
        func event(_ type: String, _ phone: Phone, _ scopes: String = "") -> String {
            #"\#(type) {"canonical_sub":"\#(person.userID)","reason":"user_disconnected",\#(scopes)"#
                + #""sub":"\#(phone.userID)"}"#
        }
        let scopes = #""scopes":["openid","profile:basic","email"],"#
        #expect(
            try events(of: rp) == [
                event("token.revoked", absorbed), event("consent.revoked", absorbed, scopes),
                event("token.revoked", person), event("consent.revoked", person, scopes),
                event("user.grants_revoked", person),
            ])
        #expect(try app.count("SELECT COUNT(*) FROM grants WHERE revoked_at IS NULL") == 0)
        #expect("\(disconnect(rp.clientID, as: person.token))" == refusal(404, "not_connected"))
        #expect(try scene.signIn(rp, as: person).idClaims["sub"] == .string("\(person.userID)"))
    }

    // MARK: Who may

    @Test func aBoundKeyOpensItsOwnApplicationAlone() throws {
        let other = try scene.register("Other")
        let pak = try boundPAK(try scene.signIn(rp, as: person).access)
        _ = try scene.signIn(other, as: person)
        try app.expectUnchanged {
            for clientID in [other.clientID, "logi_none"] {
                let answer = disconnect(clientID, as: pak)
                #expect("\(answer)" == refusal(403, "insufficient_scope"))
                #expect(answer.header("WWW-Authenticate") == #"Bearer error="insufficient_scope""#)
            }
            #expect(scene.client.send(.get, "/api/v1/me/connected_apps", token: pak).error == "insufficient_scope")
        }
        #expect(disconnect(rp.clientID, as: pak).status == 204)
        // The key went with the consent.
        #expect("\(disconnect(rp.clientID, as: pak))" == refusal(401, "invalid_token"))
        #expect(try app.count("SELECT COUNT(*) FROM grants WHERE revoked_at IS NULL") == 1)
    }

    @Test func theCredentialIsChecked() throws {
        let tokens = try scene.signIn(rp, as: person)
        let path = path(rp.clientID)
        let scopeless = try scene.person()
        try app.change("UPDATE paks SET scopes = 'profile:read' WHERE user_id = ?", scopeless.userID)
        try app.expectUnchanged {
            for token in [nil, "lpk_live_unknown", tokens.access] {
                #expect("\(scene.client.send(.delete, path, token: token))" == refusal(401, "invalid_token"))
            }
            #expect("\(disconnect(rp.clientID, as: scopeless.token))" == refusal(403, "insufficient_scope"))
        }
    }

    // MARK: At once

    @Test func whateverADisconnectionMeetsIsOver() throws {
        let rounds = 24
        var people: [(phone: Phone, tokens: Tokens, code: String)] = []
        for round in 0..<rounds {
            let phone = try scene.person("person \(round)", email: nil)
            people.append((phone, try scene.signIn(rp, as: phone), try scene.code(rp, as: phone)))
        }
        let refreshes = people.map { scene.form("/oauth/token", scene.refreshForm($0.tokens.refresh), as: rp) }
        let exchanges = people.map { scene.form("/oauth/token", scene.codeForm($0.code, of: rp), as: rp) }
        let authorization = JSONValue.object(JSONObject(scene.parameters(rp).map { ($0.0, .string($0.1)) }))
        let (tokens, path) = (people.map(\.phone.token), path(rp.clientID))
        let results = app.race(5, rounds: rounds) { client, thread, round in
            switch (thread + round) % 5 {
            case 0: client.send(refreshes[round])
            case 1: client.send(exchanges[round])
            case 2: client.send(.post, "/api/v1/oauth/authorize", authorization, token: tokens[round])
            default: client.send(.delete, path, token: tokens[round])
            }
        }
        var disconnections = 0
        for (round, answers) in results.enumerated() {
            func answer(_ kind: Int) -> Answer { answers[(kind + 5 * rounds - round) % 5] }
            let ends = [answer(3), answer(4)]
            #expect(ends.allSatisfy { $0.status == 204 || $0.error == "not_connected" }, "\(ends)")
            #expect(ends.contains { $0.status == 204 })
            disconnections += ends.count { $0.status == 204 }
            for answer in [answer(0), answer(1)] where answer.status == 200 {
                let tokens = try Tokens(answer)
                #expect(scene.userInfo(tokens.access).status == 401)
                #expect(scene.refresh(tokens.refresh, by: rp).error == "invalid_grant")
            }
            #expect([answer(0), answer(1)].allSatisfy { $0.status == 200 || $0.error == "invalid_grant" })
            // Consent after the last disconnection stands, consent before it does not.
            let (sub, phone) = ("\(people[round].phone.userID)", people[round].phone)
            let isLive =
                try app.count("SELECT COUNT(*) FROM grants WHERE sub = ? AND revoked_at IS NULL", sub) == 1
            let code = try #require(answer(2)["code"]?.string, "\(answer(2))")
            #expect(scene.exchange(code, by: rp).status == (isLive ? 200 : 400))
            #expect(disconnect(rp.clientID, as: phone.token).status == (isLive ? 204 : 404))
            if isLive { disconnections += 1 }
        }
        #expect(
            try app.count("SELECT COUNT(*) FROM refresh_families WHERE revoked_at IS NULL OR sealed_answer IS NOT NULL")
                == 0)
        #expect(try app.count("SELECT COUNT(*) FROM authorization_codes WHERE used_at IS NULL") == 0)
        #expect(try app.count("SELECT COUNT(*) FROM grants") == rounds)
        for type in ["token.revoked", "consent.revoked", "user.grants_revoked"] {
            let count = try app.count(
                """
                SELECT COUNT(*) FROM webhook_outbox
                WHERE event_type = ? AND JSON_VALUE(raw_payload, '$.data.reason') = 'user_disconnected'
                """, type)
            #expect(count == disconnections, "\(type)")
        }
        #expect(
            try app.column("SELECT event_id FROM webhook_outbox ORDER BY id")
                == app.column("SELECT event_id FROM webhook_outbox ORDER BY event_id"), "ids are in commit order")
        #expect(
            try app.count("SELECT COUNT(*) FROM audit_log WHERE action = 'grant.revoked'") == disconnections)
    }
}
