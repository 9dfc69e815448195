import Accounts
import HTTP
import JSON
import MariaDB
import TestSupport
import Testing
import Time

/// Anonymous accounts that nobody uses any more (accounts §4.6).
@Suite struct PruneTests {
    let scene: OAuthScene
    let app: TestApp
    let shop: TestClient

    init() throws {
        scene = try OAuthScene()
        app = scene.app
        shop = try scene.register(anonymous: true)
    }

    private func users() throws -> Set<Int> {
        Set(try app.column("SELECT CAST(id AS CHAR) FROM users").compactMap { Int($0) })
    }

    @Test func onlyUnusedAnonymousOnes() throws {
        let unused = try (0..<5).map { _ in try scene.anonymous() }
        let (person, promoted) = (try scene.person(), try scene.anonymous())
        try scene.promote(promoted)
        let phones = try (0..<4).map { _ in try scene.anonymous() }
        let (reopened, asked, refreshed, absorbed) = (phones[0], phones[1], phones[2], phones[3])
        let tokens = try scene.signIn(shop, as: refreshed)
        let deleted = try scene.anonymous()
        #expect(scene.client.send(.deletion(by: deleted.token)).status == 202)
        try app.absorb(absorbed.userID, into: person.userID)

        // All are equally old; what counts is the last use.
        app.time.advance(by: .seconds(20 * 86_400))
        _ = try scene.client.reopen(reopened)
        #expect(scene.client.send(.get, "/api/v1/me", token: asked.token).status == 200)
        #expect(scene.refresh(tokens.refresh, by: shop).status == 200)
        app.time.advance(by: .seconds(10 * 86_400))
        #expect(try app.prune(inactiveDays: 30) == [], "not a moment early")
        app.time.advance(by: .milliseconds(1))
        #expect(try app.prune(inactiveDays: 30) == unused.map(\.userID))
        #expect(
            try users()
                == Set(
                    [reopened, asked, refreshed, absorbed, deleted, person, promoted].map(\.userID)))
        #expect(try app.prune(inactiveDays: 30) == [])
        // Whoever was pruned starts anew.
        #expect(scene.client.send(.get, "/api/v1/me", token: unused[0].token).status == 401)
        let again = try Phone(
            scene.client.send(
                .post, "/api/v1/devices", ["device_uuid": .string(unused[0].uuid), "platform": "ios"]))
        #expect(!unused.map(\.userID).contains(again.userID))
    }

    @Test func relyingPartiesAreTold() throws {
        let other = try scene.register("Other", anonymous: true)
        let phone = try scene.anonymous()
        for rp in [shop, other] { _ = try scene.signIn(rp, as: phone, scope: "openid") }
        #expect(
            scene.client.send(.delete, "/api/v1/me/connected_apps/\(other.clientID)", token: phone.token).status == 204)
        try app.change("UPDATE applications SET backchannel_logout_uri = 'https://rp.example/' WHERE id = ?", shop.id)
        try app.change("DELETE FROM webhook_outbox")
        app.time.advance(by: .seconds(31 * 86_400))
        #expect(try app.prune(inactiveDays: 30) == [phone.userID])
        let (sub, now) = (phone.userID, app.time.now.iso8601)
        let said = #""canonical_sub":"\#(sub)","reason":"pruned""#
        let known = #""canonical_sub":"\#(sub)","linked_subs":[]"#
        #expect(
            try app.events(at: shop.id) == [
                #"token.revoked {\#(said),"sub":"\#(sub)"}"#,
                #"consent.revoked {\#(said),"scopes":["openid"],"sub":"\#(sub)"}"#,
                #"user.deleted {\#(known),"purge_at":"\#(now)","sub":"\#(sub)"}"#,
                #"user.purged {\#(known),"sub":"\#(sub)"}"#,
            ])
        #expect(try app.events(at: other.id) == [])
        #expect(try app.count("SELECT COUNT(*) FROM logout_tokens WHERE sub = ?", "\(sub)") == 1)
        #expect(
            try app.column(
                """
                SELECT CONCAT_WS(' ', COALESCE(user_id, '-'), actor, action, details) FROM audit_log ORDER BY id DESC LIMIT 2
                """) == [
                    #"- operator user.pruned {"user_id":\#(sub)}"#,
                    #"- operator grant.revoked "#
                        + #"{"client_id":"\#(shop.clientID)","sub":"\#(sub)","reason":"pruned"}"#,
                ])
        #expect(try app.count("SELECT COUNT(*) FROM audit_log WHERE user_id IS NOT NULL OR ip = '192.0.2.7'") == 0)
    }

    /// Between the list and the lock somebody uses the account, or makes it an identified one.
    @Test(arguments: ["last_active_at = last_active_at + INTERVAL 2 DAY", "anonymous = FALSE", "deleted_at = NOW()"])
    func whoIsUsedMeanwhileStays(change: String) throws {
        let phone = try scene.anonymous()
        app.time.advance(by: .seconds(31 * 86_400))
        let limit = app.time.now - .seconds(30 * 86_400)
        let listed = try app.sql { try $0.inactiveAnonymousUsers(since: limit, after: nil, atMost: 10) }
        #expect(listed.map { Int($0.id.rawValue) } == [phone.userID])
        try app.sql { try $0.executeScript("UPDATE users SET \(change)") }
        #expect(try !app.operate { try $0.pruneAnonymousUser(listed[0].id, inactiveSince: limit) })
        #expect(try users() == [phone.userID])
    }
}
