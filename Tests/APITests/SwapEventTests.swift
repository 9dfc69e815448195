import JSON
import MariaDB
import TestSupport
import Testing
import Time

/// The events about swaps that relying parties receive if they subscribe (accounts §1.9 step 9, §3.3).
@Suite struct SwapEventTests {
    let app: TestApp
    let scene: SwapScene

    init() throws {
        app = try TestApp()
        scene = try SwapScene(app)
    }

    private struct Outbox: Equatable {
        let application: Int
        let eventID: String
        let payload: String
        let nextAttempt: Timestamp?
    }

    /// In the order they were written.
    private func outbox() throws -> [Outbox] {
        try scene.db.all(
            """
            SELECT application_id, event_id, raw_payload, next_attempt_at FROM webhook_outbox
            WHERE event_type = 'user.merged' AND attempts = 0 AND COALESCE(delivered_at, dlq_at, failure_reason) IS NULL
            ORDER BY id
            """
        ) { row in
            Outbox(
                application: try row.read(), eventID: try row.read(),
                payload: String(decoding: try row.read([UInt8].self), as: UTF8.self), nextAttempt: try row.read())
        }
    }

    private func payload(_ a: Phone, into b: IdentifiedUser, sub: String, id: String, at time: Timestamp) -> String {
        """
        {"data":{"identity_link_id":null,"linked_sub":"\(sub)","linked_subs":["\(sub)"],\
        "merged_canonical_sub":"\(a.userID)","merged_via":"anonymous_swap","survivor_canonical_sub":"\(b.id)"},\
        "event_id":"\(id)","event_type":"user.merged","occurred_at":"\(time.iso8601)"}
        """
    }

    @Test func onlyApplicationsThatAskedAndGotARow() throws {
        let (a, b) = (try scene.anonymous(), try scene.identified())
        let polling = try scene.relyingParty(notified: true)
        let silent = try scene.relyingParty()
        let webhook = try scene.relyingParty(notified: true, webhook: "https://rp.example/hook")
        let unselected = try scene.relyingParty(notified: true)
        let revoked = try scene.relyingParty(notified: true)
        // Granted in another order than the applications were registered in.
        try scene.grant(a.userID, webhook, sub: "sub-w")
        try scene.grant(b.id, webhook)
        try scene.grant(a.userID, polling, sub: "sub-p")
        try scene.grant(a.userID, silent)
        try scene.grant(a.userID, unselected)
        try scene.grant(a.userID, revoked, revoked: true)
        let selected: JSONValue = [polling, silent, webhook, revoked].map(\.clientID).asJSON

        let answer = try scene.swap(a, into: b, [("merge_options", ["rps": selected])])

        #expect(answer["merged"]?["rps"] == ["transferred": 2, "skipped_duplicate": 1])
        let outbox = try outbox()
        #expect(outbox.map(\.application) == [polling.id, webhook.id])
        #expect(outbox.map(\.nextAttempt) == [nil, app.time.now])
        #expect(Set(outbox.map(\.eventID)).count == 2)
        for (row, sub) in zip(outbox, ["sub-p", "sub-w"]) {
            #expect(row.eventID.wholeMatch(of: /evt_[0-7][0-9A-HJKMNP-TV-Z]{25}/) != nil)
            #expect(row.payload == payload(a, into: b, sub: sub, id: row.eventID, at: app.time.now))
        }
        #expect(try scene.ids("SELECT id FROM webhook_outbox").count == 2)
    }

    @Test func eventIDsAscendEvenWhenTheClockDoesNot() throws {
        let b = try scene.identified()
        let rp = try scene.relyingParty(notified: true)
        for step in [0, 1, 0, -3600, 0, 7200] as [Int] {
            app.time.advance(by: .seconds(step))
            let a = try scene.anonymous()
            try scene.grant(a.userID, rp)
            #expect(try scene.swap(a, into: b).status == 200)
        }
        let ids = try outbox().map(\.eventID)
        #expect(ids.count == 6)
        #expect(ids == ids.sorted())
        #expect(Set(ids).count == 6)
        #expect(
            try scene.value("SELECT last_ulid FROM application_event_counters")
                == ids.last.map { String($0.dropFirst(4)) })
    }

    @Test func aNameCannotBreakThePayload() throws {
        let (a, b) = (try scene.anonymous(), try scene.identified())
        // A sub is ASCII, but not only digits in imported rows.
        try scene.grant(a.userID, try scene.relyingParty(notified: true), sub: #"a"\/b"#)
        #expect(try scene.swap(a, into: b).status == 200)
        let row = try #require(try outbox().first)
        #expect(row.payload == payload(a, into: b, sub: #"a\"\\/b"#, id: row.eventID, at: app.time.now))
    }
}

extension [String] {
    var asJSON: JSONValue { .array(map(JSONValue.string)) }
}
