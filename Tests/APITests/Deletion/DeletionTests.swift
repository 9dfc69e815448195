import HTTP
import IdentityTokens
import JSON
import MariaDB
import TestSupport
import Testing

/// `DELETE /api/v1/me` (accounts §4.5).
@Suite struct DeletionTests {
    let scene: OAuthScene
    let app: TestApp
    let shop: TestClient
    let club: TestClient
    let person: Phone

    /// 30 days after the beginning of the test.
    static let deleted = #"422 {"error":"account_deleted","purge_at":"2026-06-11T07:00:00Z"}"#

    init() throws {
        scene = try OAuthScene()
        app = scene.app
        shop = try scene.register("Shop")
        club = try scene.register("Club", confidential: true)
        person = try scene.person()
    }

    private func delete(_ phone: Phone) -> Answer { scene.client.send(.deletion(by: phone.token)) }

    @Test func everythingEndsAtOnce() throws {
        let (tokens, more) = (try scene.signIn(shop, as: person), try scene.signIn(club, as: person))
        let code = try scene.code(shop, as: person)
        let browser = try scene.signedIn()
        let device = try scene.device(club)
        #expect(scene.decide("approve", device, as: person).status == 200)
        let token = scene.client.send(.post, "/api/v1/me/merge/session-token", [:], token: person.token)[
            "session_token"]
        let stranger = try scene.person("stranger", email: nil)
        _ = scene.client.send(
            .post, "/api/v1/me/merge/otp", ["target_user_id": .integer(Int64(stranger.userID))], token: person.token)
        try app.change("INSERT INTO agents (id, user_id, public_id) VALUES (7, ?, 'agt_7')", person.userID)
        for status in ["pending", "approved"] {
            try app.change(
                """
                INSERT INTO agent_approvals (user_id, agent_id, public_id, status, display_payload_hash)
                VALUES (?, 7, ?, ?, '')
                """, person.userID, "aar_\(status)", status)
            try app.change(
                """
                INSERT INTO push_approval_requests (requested_user_id, status, expires_at, completed_at)
                VALUES (?, ?, NOW(), IF(? = 'approved', NOW(), NULL))
                """, person.userID, status, status)
        }

        let answer = delete(person)
        #expect("\(answer)" == #"202 {"deleted_at":"2026-05-12T07:00:00Z","purge_at":"2026-06-11T07:00:00Z"}"#)

        try app.expectEnded(person.userID)
        #expect("\(delete(person))" == refusal(401, "invalid_token"))
        for tokens in [tokens, more] { #expect(scene.userInfo(tokens.access).status == 401) }
        #expect(try scene.refresh(tokens.refresh, by: shop).oauthRefusal() == "400 invalid_grant")
        #expect(try scene.exchange(code, by: shop).oauthRefusal() == "400 invalid_grant")
        #expect(scene.poll(device, by: club).error == "access_denied")
        #expect("\(scene.introspect(more.access, by: club))" == #"200 {"active":false}"#)
        #expect(scene.sub("\(person.userID)", at: club).error == "unknown_sub")
        browser.open(scene.authorizePath(shop))
        #expect(browser.path.hasPrefix("/oauth/login"))
        let merge = scene.client.send(
            .post, "/api/v1/me/merge", ["target_session_token": token ?? .null], token: stranger.token)
        #expect(merge.error == "token_consumed")
        #expect(
            try app.column(
                "SELECT status FROM agent_approvals UNION ALL SELECT status FROM push_approval_requests"
            ).sorted() == ["approved", "approved", "cancelled", "denied"])
        // The device is nobody's: it starts as a new one.
        let device2: JSONValue = ["device_uuid": .string(person.uuid), "platform": "ios"]
        let opened = scene.client.send(
            .post, "/api/v1/devices", device2.adding(["device_secret": .string(person.secret)]))
        #expect("\(opened)" == refusal(401, "invalid_device_secret"))
        #expect(try Phone(scene.client.send(.post, "/api/v1/devices", device2)).userID != person.userID)
    }

    @Test func relyingPartiesAreTold() throws {
        let left = try scene.register("Left")
        for rp in [club, shop, left] { _ = try scene.signIn(rp, as: person, scope: "openid") }
        #expect(
            scene.client.send(.delete, "/api/v1/me/connected_apps/\(left.clientID)", token: person.token).status == 204)
        try app.change("UPDATE applications SET backchannel_logout_uri = 'https://rp.example/' WHERE id = ?", shop.id)
        try app.change("DELETE FROM webhook_outbox")
        let neighbor = try scene.person("neighbor", email: nil)
        _ = try scene.signIn(shop, as: neighbor)
        #expect(delete(person).status == 202)

        let sub = person.userID
        let said = #""canonical_sub":"\#(sub)","reason":"account_deleted""#
        for rp in [shop, club] {
            #expect(
                try app.events(at: rp.id) == [
                    #"token.revoked {\#(said),"sub":"\#(sub)"}"#,
                    #"consent.revoked {\#(said),"scopes":["openid"],"sub":"\#(sub)"}"#,
                    #"user.deleted {"canonical_sub":"\#(sub)","linked_subs":[],"#
                        + #""purge_at":"2026-06-11T07:00:00Z","sub":"\#(sub)"}"#,
                ])
        }
        #expect(try app.events(at: left.id) == [])
        #expect(
            try app.column("SELECT CONCAT_WS(' ', application_id, sub, sid) FROM logout_tokens")
                == ["\(shop.id) \(sub)"])
        #expect(
            try app.column(
                "SELECT CONCAT_WS(' ', user_id, actor, action, details) FROM audit_log WHERE action = 'user.deleted'")
                == [#"\#(sub) user:\#(sub) user.deleted {"devices":1,"purge_at":"2026-06-11T07:00:00Z"}"#])
    }

    /// The relying party finds everybody whom it knew: by further grants, by what was merged, by what was swapped.
    @Test func oneEventNamesAllSubs() throws {
        let open = try scene.register(anonymous: true)
        let (anonymous, other) = (try scene.anonymous(), try scene.person("other", email: nil))
        for phone in [anonymous, other, person] { _ = try scene.signIn(open, as: phone) }
        try scene.swap(anonymous, into: "other")
        let token = scene.client.send(.post, "/api/v1/me/merge/session-token", [:], token: other.token)["session_token"]
        let merge = scene.client.send(
            .post, "/api/v1/me/merge", ["target_session_token": token ?? .null], token: person.token)
        #expect(merge.status == 200, "\(merge)")
        #expect(delete(person).status == 202)
        let (own, linked) = (person.userID, [anonymous.userID, other.userID].sorted())
        let all = linked.map { "\"\($0)\"" }.joined(separator: ",")
        #expect(
            try app.events(at: open.id).filter { $0.hasPrefix("user.deleted") } == [
                #"user.deleted {"canonical_sub":"\#(own)","linked_subs":[\#(all)],"#
                    + #""purge_at":"2026-06-11T07:00:00Z","sub":"\#(own)"}"#
            ])
        // Token and consent end for each grant.
        #expect(try app.events(at: open.id).filter { $0.hasPrefix("consent.revoked") }.count == 2)
    }

    @Test func anonymousPeopleMayToo() throws {
        let open = try scene.register(anonymous: true)
        let phone = try scene.anonymous()
        _ = try scene.signIn(open, as: phone)
        #expect(delete(phone).status == 202)
        try app.expectEnded(phone.userID)
        #expect(try app.events(at: open.id).count == 3)
    }

    // MARK: Reserved identities

    @Test func identitiesStayReserved() throws {
        let phone = try scene.anonymous()
        let link = scene.client.send(
            .post, "/api/v1/me/connected_identities", app.proof().adding(["provider": "apple"]), token: phone.token)
        let ticket = try #require(link["swap_ticket"]?.string, "\(link)")
        let browser = TestBrowser(app)
        browser.open(scene.authorizePath(shop))
        #expect(delete(person).status == 202)

        // Time does not move what was promised.
        app.time.advance(by: .seconds(60))
        let swap = "/api/v1/me/anonymous_swap"
        let byTicket: JSONValue = ["swap_ticket": .string(ticket)]
        let requests: [(String, JSONValue, String?)] = [
            ("/api/v1/auth/apple/session", app.proof(), nil),
            ("/api/v1/me/connected_identities", app.proof().adding(["provider": "apple"]), phone.token),
            (swap, app.proof().adding(["provider": "apple"]), phone.token),
            (swap, app.proof().adding(["provider": "apple", "dry_run": true]), phone.token),
            (swap, byTicket.adding(["dry_run": true]), phone.token), (swap, byTicket, phone.token),
        ]
        for (path, body, token) in requests {
            #expect("\(scene.client.send(.post, path, body, token: token))" == Self.deleted, "\(path)")
        }
        try browser.signIn(as: "subject")
        #expect(browser.path.hasPrefix("/oauth/login"))
        #expect(query(of: browser.path)["error"] == "account_deleted")
        #expect(browser.alert?.contains("June 11, 2026") == true)
        // Its address is free: only identities are reserved.
        _ = try scene.person("other", email: "bea@example.com")
        #expect(
            try app.column("SELECT login_email FROM users WHERE live_login_email IS NOT NULL") == ["bea@example.com"])
    }

    @Test func nobodyElseIsDeleted() throws {
        let (other, absorbed) = (try scene.person("other", email: nil), try scene.person("absorbed", email: nil))
        try scene.merge(absorbed.userID, into: person.userID)
        let tokens = try scene.signIn(shop, as: other)
        #expect(delete(person).status == 202)
        #expect(scene.userInfo(tokens.access).status == 200)
        #expect(
            try app.column(
                "SELECT CAST(id AS CHAR) FROM users WHERE deleted_at IS NULL AND purge_at IS NULL ORDER BY id")
                == [other.userID, absorbed.userID].sorted().map { "\($0)" })
    }
}
