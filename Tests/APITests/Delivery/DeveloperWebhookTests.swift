import Accounts
import Database
import HTTP
import JSON
import MariaDB
import TestSupport
import Testing
import Time

/// What developers see of their webhooks, and do with them (accounts §3.4).
@Suite struct DeveloperWebhookTests {
    private let scene: DeliveryScene
    private let oauth: OAuthScene
    private let developer: Phone
    private let server: LocalHTTPServer
    private let clientID: String
    private let id: Int

    init() throws {
        scene = try DeliveryScene()
        oauth = try OAuthScene(scene.app)
        developer = try oauth.developer()
        server = try LocalHTTPServer { _ in .response(status: 503) }
        clientID = try oauth.create(by: developer, ["webhook_url": .string("\(server.url)/hook")])
        id = try scene.app.count("SELECT id FROM applications WHERE client_id = ?", clientID)
    }

    private func send(
        _ method: HTTP.Method, _ what: String, _ body: JSONValue = [:], by phone: Phone? = nil, of client: String? = nil
    ) -> Answer {
        oauth.client.send(
            method, "\(OAuthScene.applications)/\(client ?? clientID)/\(what)", body, token: (phone ?? developer).token)
    }

    private func refusal(_ status: Int, _ code: String) -> String { "\(status) {\"error\":\"\(code)\"}" }

    private func isDue(_ eventID: String) throws -> Bool {
        try scene.app.count(
            """
            SELECT COUNT(*) FROM webhook_outbox WHERE event_id = ? AND attempts = 0 AND next_attempt_at <= ?
            AND COALESCE(delivered_at, dlq_at, lease, failure_reason) IS NULL
            """, eventID, scene.app.time.now) == 1
    }

    // MARK: Who

    @Test(arguments: [
        (HTTP.Method.post, "webhook_test"), (.get, "webhook_deliveries"), (.post, "webhook_replay"),
        (.post, "webhook_enable"),
    ])
    func onlyTheApplicationsDeveloper(method: HTTP.Method, path: String) throws {
        let body: JSONValue = ["dead": true]
        let (other, person) = (try oauth.developer("other"), try oauth.person("nobody", email: nil))
        #expect("\(send(method, path, body, by: other))" == refusal(404, "not_found"))
        #expect("\(send(method, path, body, of: "logi_0"))" == refusal(404, "not_found"))
        #expect("\(send(method, path, body, by: person))" == refusal(403, "developer_required"))
    }

    // MARK: Test

    @Test func aTestEventIsSentWhateverTypesArePushed() throws {
        #expect(oauth.patch(clientID, ["webhook_events": ["user.merged"]], by: developer).status == 200)
        let answer = send(.post, "webhook_test")
        #expect(answer.status == 202 && answer["ok"] == true)
        try scene.dispatch()
        let request = try #require(server.requests.first)
        #expect(request.header("x-logi-event-type") == "webhook.test")
        let body = try JSONValue(json: request.body)
        #expect(body["data"] == [:] && body["event_type"] == "webhook.test")
    }

    @Test func thereMustBeSomewhereToSendTo() throws {
        #expect(oauth.patch(clientID, ["webhook_url": .null], by: developer).status == 200)
        #expect("\(send(.post, "webhook_test"))" == refusal(400, "invalid_request"))
        #expect("\(send(.post, "webhook_replay", ["dead": true]))" == refusal(400, "invalid_request"))
    }

    @Test(arguments: ["webhook_test", "webhook_replay"]) func sixtyInAnHour(path: String) throws {
        for _ in 0..<60 { #expect(send(.post, path, ["dead": true]).status < 300) }
        let refused = send(.post, path, ["dead": true])
        #expect(refused.status == 429 && refused.header("Retry-After") != nil)
        scene.app.time.advance(by: .seconds(3600))
        #expect(send(.post, path, ["dead": true]).status < 300)
    }

    // MARK: Types

    @Test func onlyTheTypesThatWereAskedForArePushed() throws {
        #expect(oauth.show(clientID, to: developer)["webhook_events"] == .null)
        let rp = TestClient(id: id, clientID: clientID, secret: nil, redirectURI: "com.example.notes://callback")
        let person = try oauth.person()
        for (types, pushed) in [
            (["consent.revoked", "user.merged"], ["consent.revoked"]), (["webhook.test"], []),
            (nil, ["consent.revoked", "token.revoked", "user.grants_revoked"]),
        ] as [([String]?, [String])] {
            let value: JSONValue = types.map { .array($0.map(JSONValue.string)) } ?? .null
            let answer = oauth.patch(clientID, ["webhook_events": value], by: developer)
            #expect(answer.status == 200 && answer["webhook_events"] == value)
            try scene.app.database.connect().execute("DELETE FROM webhook_outbox")
            _ = try oauth.signIn(rp, as: person)
            let path = "/api/v1/me/connected_apps/\(clientID)"
            #expect(oauth.client.send(.delete, path, token: person.token).status == 204)
            let types = try scene.app.column(
                "SELECT event_type FROM webhook_outbox WHERE next_attempt_at IS NOT NULL ORDER BY event_type")
            #expect(types == pushed)
            #expect(try scene.app.count("SELECT COUNT(*) FROM webhook_outbox") == 3, "for polling")
        }
    }

    @Test(
        arguments: [
            [], ["user.exploded"], ["user.merged", "user.merged"], "user.merged", [1],
        ] as [JSONValue])
    func otherTypesAreRefused(_ types: JSONValue) throws {
        let answer = oauth.patch(clientID, ["webhook_events": types], by: developer)
        #expect("\(answer)" == refusal(400, "invalid_request"))
    }

    // MARK: Attempts

    @Test func attemptsAreListedNewestFirst() throws {
        let ids = try (0..<3).map { _ in
            let id = try scene.event(for: id)
            try scene.dispatch()
            scene.app.time.advance(by: .seconds(1))
            return id
        }
        let deliveries = send(.get, "webhook_deliveries")["deliveries"]?.array ?? []
        #expect(deliveries.compactMap { $0["event_id"]?.string } == ids.reversed())
        let newest = try #require(deliveries.first)
        #expect(
            oauth.names(newest)
                == ["event_id", "event_type", "attempt", "at", "status", "duration_ms", "failure_reason"])
        #expect(newest["event_type"] == "consent.revoked" && newest["attempt"] == 1 && newest["status"] == 503)
        #expect(newest["failure_reason"] == "http_503" && newest["at"] == "2026-05-12T07:00:02Z")
        let limited = oauth.client.send(
            .get, "\(OAuthScene.applications)/\(clientID)/webhook_deliveries?limit=1", token: developer.token)
        #expect(limited["deliveries"]?.array?.count == 1)
        for limit in ["0", "-1", "x", ""] {
            let path = "\(OAuthScene.applications)/\(clientID)/webhook_deliveries?limit=\(limit)"
            #expect(oauth.client.send(.get, path, token: developer.token).error == "invalid_request", "\(limit)")
        }
    }

    @Test func attemptsAreErasedAfterAWeek() throws {
        try scene.event(for: id)
        try scene.dispatch()
        func collect() throws -> Int {
            try Accounts.write(
                Database(scene.app.database.options), at: scene.app.time.clock, from: Origin(requestID: "", address: "")
            ) { try $0.collect(.webhookAttempts, loginHistory: .seconds(1)) }
        }
        scene.app.time.advance(by: .seconds(7 * 86_400 - 1))
        #expect(try collect() == 0)
        scene.app.time.advance(by: .seconds(1))
        #expect(try collect() == 1)
    }

    // MARK: Replay

    @Test func eventsAreSentAgain() throws {
        let ids = try (0..<3).map { _ in try scene.event(for: id) }
        let other = try scene.event(for: try scene.receiver().id)
        try scene.app.database.connect().execute(
            """
            UPDATE webhook_outbox SET attempts = 14, next_attempt_at = NULL, failure_reason = 'timeout',
                   dlq_at = IF(event_id = ?, NULL, ?), delivered_at = IF(event_id = ?, ?, NULL)
            """, ids[0], scene.app.time.now, ids[0], scene.app.time.now)
        #expect(send(.post, "webhook_replay", ["event_id": .string(ids[0])])["replayed"] == 1)
        #expect(try ids.map(isDue) == [true, false, false])
        #expect(send(.post, "webhook_replay", ["dead": true])["replayed"] == 2)
        #expect(try ids.map(isDue) == [true, true, true])
        #expect(try !isDue(other))
        for none in [other, "evt_none", "é"] {
            #expect(send(.post, "webhook_replay", ["event_id": .string(none)])["replayed"] == 0)
        }
        #expect(try scene.app.count("SELECT COUNT(*) FROM audit_log WHERE action = 'webhook.replayed'") == 2)
    }

    @Test func eventsOfATimeAreSentAgain() throws {
        for second in 0..<3 {
            scene.app.time.advance(by: .seconds(second > 0 ? 1 : 0))
            #expect(send(.post, "webhook_test").status == 202)
        }
        try scene.app.database.connect().execute("UPDATE webhook_outbox SET next_attempt_at = NULL")
        func replay(_ body: JSONValue) -> JSONValue? {
            // What is due at the same instant already does not change.
            scene.app.time.advance(by: .milliseconds(1))
            return send(.post, "webhook_replay", body)["replayed"]
        }
        #expect(replay(["since": "2026-05-12T07:00:01Z"]) == 2)
        #expect(replay(["until": "2026-05-12T07:00:01Z"]) == 1)
        #expect(replay(["since": "2026-05-12T07:00:01Z", "until": "2026-05-12T07:00:02Z"]) == 1)
        #expect(replay(["since": "2026-05-12T07:00:03Z"]) == 0)
    }

    @Test(
        arguments: [
            [:], ["dead": false], ["event_id": "evt_1", "dead": true], ["since": "yesterday"],
            ["event_id": "evt_1", "since": "2026-05-12T07:00:00Z"], ["dead": 1], ["event_id": 1],
        ] as [JSONValue])
    func exactlyOneKindIsReplayed(_ body: JSONValue) {
        #expect("\(send(.post, "webhook_replay", body))" == refusal(400, "invalid_request"))
    }

    // MARK: Enable

    @Test func aDisabledReceiverIsEnabled() throws {
        try scene.app.database.connect().execute(
            "UPDATE applications SET webhook_disabled_at = ? WHERE id = ?", scene.app.time.now, id)
        let event = try scene.event(for: id)
        #expect(try scene.dispatch() == 0)
        #expect(oauth.show(clientID, to: developer)["webhook_disabled_at"] == "2026-05-12T07:00:00Z")
        let answer = send(.post, "webhook_enable")
        #expect(answer.status == 200 && answer["webhook_disabled_at"] == .null && answer["client_id"] != nil)
        #expect(try scene.dispatch() == 1)
        #expect(try scene.row(event).attempts == 1)
        #expect(try scene.app.count("SELECT COUNT(*) FROM audit_log WHERE action = 'webhook.enabled'") == 1)
        // Enabling what is enabled closes its breaker, and is no news.
        #expect(send(.post, "webhook_enable").status == 200)
        #expect(try scene.app.count("SELECT COUNT(*) FROM webhook_failures") == 0)
        #expect(try scene.app.count("SELECT COUNT(*) FROM audit_log WHERE action = 'webhook.enabled'") == 1)
    }
}
