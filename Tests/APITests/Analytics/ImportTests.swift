import Analytics
import HTTP
import JSON
import TestSupport
import Testing

/// Analytics §9 over the wire: the differences from ingest.
@Suite struct ImportTests {
    let app: TestApp
    let scene: AnalyticsScene
    let client: Client

    init() throws {
        app = try TestApp()
        scene = try AnalyticsScene(app)
        client = app.client()
    }

    private func answer(_ events: [JSONValue]) -> String { "\(client.send(scene.importing(events)))" }

    /// `message at time` of every event, sorted by client id and time.
    private func rows() throws -> [String] {
        try app.column(
            """
            SELECT CONCAT(message, ' at ', DATE_FORMAT(timestamp, '%m-%d'), COALESCE(CONCAT(' of ', user_id), ''))
            FROM events_resolved ORDER BY client_event_id, timestamp, message
            """)
    }

    private func expectExactCounters(sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(try scene.counters() == scene.countedEvents(), sourceLocation: sourceLocation)
    }

    // MARK: The request

    @Test func onlyImportKeys() throws {
        let agent = try scene.makeKey(.agent, permissions: [.eventsWrite])
        for token in [scene.clientKey, agent] {
            for events in [[], [scene.event()]] {
                #expect(
                    "\(client.send(scene.importing(events, token: token)))"
                        == refusal(403, "This endpoint requires an import API key (owl_import_*)"))
            }
        }
        // Whether it is JSON is asked first.
        let json = [("content-type", "application/json")]
        let unreadable = Array("{".utf8)
        #expect(
            client.send(.post, "/v1/import", bytes: unreadable, token: scene.clientKey, headers: json).status == 400)
        let weak = try scene.makeKey(.import, permissions: [.usersWrite])
        #expect(
            "\(client.send(scene.importing([scene.event()], token: weak)))"
                == refusal(403, "Missing permission: events:write"))
    }

    @Test func theRequestIsChecked() throws {
        for events in [nil, .null, [], "events"] as [JSONValue?] {
            let body = ([:] as JSONValue).adding(["events": events])
            #expect(
                "\(client.send(scene.post("/v1/import", body, scene.importKey)))"
                    == refusal(400, "events array is required"))
        }
        let events = (1...1001).map { scene.event("\($0)", of: "u") }
        #expect(answer(events) == refusal(400, "Maximum import batch size is 1000"))
        #expect(answer(events.dropLast()) == #"200 {"accepted":1000,"rejected":0,"updated":0}"#)
        #expect(try scene.counters() == ["u 2026-05: 1000"])
        try app.change("UPDATE apps SET deleted_at = created_at")
        #expect(answer(events.dropLast()) == refusal(400, "App associated with this API key no longer exists"))
    }

    @Test func noBundleNoFloorNoCountry() throws {
        let request = scene.importing([scene.event("old", of: "u", at: "1970-01-01")])
        let answer = client.send(
            .post, request.path, request.body, token: request.token, headers: [(name: "cf-ipcountry", value: "DE")])
        #expect("\(answer)" == #"200 {"accepted":1,"rejected":0,"updated":0}"#)
        #expect(try app.column("SELECT country_code FROM events") == ["NULL"])
        #expect(try app.column("SELECT last_country_code FROM app_users") == ["NULL"])
        #expect(try scene.counters() == ["u 1970-01: 1"])
    }

    @Test func badEventsAreRejectedByIndex() throws {
        try app.change("UPDATE retention_horizons SET horizon = '2026-01-01' WHERE table_name = 'events'")
        let answer = client.send(
            scene.importing([
                7, scene.event("a", at: "2025-12-31T23:59:59.999Z"), scene.event("b", at: "2026-05-12T07:05:00.001Z"),
                scene.event("good", at: "2026-01-01"),
            ]))
        #expect(
            answer.json == [
                "accepted": 1, "rejected": 3, "updated": 0,
                "errors": [
                    ["index": 0, "message": "events[0]: must be an object"],
                    ["index": 1, "message": "events[1]: timestamp is older than the retention period"],
                    ["index": 2, "message": "events[2]: timestamp cannot be more than 5 minutes in the future"],
                ],
            ])
        #expect(try scene.events() == ["good"])
    }

    // MARK: Updates

    @Test func theSameTimeUpdates() throws {
        let first = scene.event(
            "metric:load:start", of: "owl_anon_a", id: 1, at: "2026-03-04",
            ["custom_attributes": ["a": "1"], "screen_name": "S", "is_dev": true])
        #expect(answer([first]) == #"200 {"accepted":1,"rejected":0,"updated":0}"#)
        let id = try app.ids("SELECT id FROM events")
        app.time.advance(by: .seconds(60))
        let second = scene.event("step:pay", of: "u", id: 1, at: "2026-03-04", ["app_version": "2", "level": "error"])
        #expect(answer([second]) == #"200 {"accepted":0,"rejected":0,"updated":1}"#)
        #expect(try app.ids("SELECT id FROM events") == id)
        #expect(
            try app.column(
                """
                SELECT CONCAT_WS('|', message, level, screen_name IS NULL, custom_attributes IS NULL, app_version, is_dev,
                                 timestamp, received_at) FROM events
                """) == ["step:pay|error|1|1|2|0|2026-03-04 00:00:00.000|2026-05-12 07:01:00.000"])
        #expect(try app.count("SELECT COUNT(*) FROM metric_events") == 0)
        #expect(try app.column("SELECT CONCAT(step_name, ' of ', user_id) FROM funnel_events_resolved") == ["pay of u"])
        #expect(try rows() == ["step:pay at 03-04 of u"])
        #expect(try scene.counters() == ["u 2026-03: 1"])
        try expectExactCounters()
    }

    @Test func anyTimeOfTheBatchsSpanUpdates() throws {
        _ = client.send(
            scene.importing([
                scene.event("before", of: "u", id: 1, at: "2026-01-31"),
                scene.event("first", of: "u", id: 2, at: "2026-02-01"),
                scene.event("last", of: "u", id: 3, at: "2026-04-01"),
                scene.event("after", of: "u", id: 4, at: "2026-04-02"),
            ]))
        let batch = [
            scene.event("new before", of: "u", id: 1, at: "2026-03-10"),
            scene.event("new first", of: "v", id: 2, at: "2026-04-01"),
            scene.event("new last", of: "u", id: 3, at: "2026-02-01"),
            scene.event("new after", of: "v", id: 4, at: "2026-03-10"),
        ]
        #expect(answer(batch) == #"200 {"accepted":2,"rejected":0,"updated":2}"#)
        #expect(
            try rows() == [
                "before at 01-31 of u", "new before at 03-10 of u", "new first at 04-01 of v", "new last at 02-01 of u",
                "new after at 03-10 of v", "after at 04-02 of u",
            ])
        #expect(
            try scene.counters() == [
                "u 2026-01: 1", "u 2026-02: 1", "u 2026-03: 1", "u 2026-04: 1", "v 2026-03: 1", "v 2026-04: 1",
            ])
        try expectExactCounters()
    }

    @Test func theLatestOfSeveralIsUpdated() throws {
        for day in ["2026-02-01", "2026-02-03", "2026-02-02"] {
            _ = client.send(scene.importing([scene.event(day, of: "u", id: 1, at: day)]))
        }
        let batch = [
            scene.event("x", at: "2026-01-01"), scene.event("new", of: "u", id: 1, at: "2026-01-15"),
            scene.event("y", at: "2026-03-01"),
        ]
        #expect(answer(batch) == #"200 {"accepted":2,"rejected":0,"updated":1}"#)
        #expect(
            try scene.events() == [
                "x", "new of u", "2026-02-01 of u", "2026-02-02 of u", "y",
            ])
        // Two rows cannot have the same time, so the row with the event's time is updated.
        #expect(
            answer([scene.event("one", of: "u", id: 1, at: "2026-02-01"), scene.event("z", at: "2026-03-01")])
                == #"200 {"accepted":1,"rejected":0,"updated":1}"#)
        #expect(try scene.events() == ["x", "new of u", "one of u", "2026-02-02 of u", "y", "z"])
        try expectExactCounters()
    }

    @Test func aLaterDuplicateOfTheBatchUpdatesTheEarlier() throws {
        let versions = [
            scene.event("metric:a:start", of: "u", id: 1, at: "2026-02-01"),
            scene.event("other", of: "u", id: 2, at: "2026-02-01"),
            scene.event("metric:b:start", of: "v", id: 1, at: "2026-03-01"),
            scene.event("metric:c:start", of: "w", id: 1, at: "2026-02-15"),
        ]
        #expect(answer(versions) == #"200 {"accepted":2,"rejected":0,"updated":2}"#)
        #expect(try rows() == ["metric:c:start at 02-15 of w", "other at 02-01 of u"])
        #expect(try app.column("SELECT metric_slug FROM metric_events") == ["c"])
        #expect(answer(versions) == #"200 {"accepted":0,"rejected":0,"updated":4}"#)
        #expect(try rows() == ["metric:c:start at 02-15 of w", "other at 02-01 of u"])
        #expect(try app.column("SELECT metric_slug FROM metric_events") == ["c"])
        #expect(try scene.counters() == ["u 2026-02: 1", "w 2026-02: 1"])
        try expectExactCounters()
    }

    @Test func withoutATimeTheLastTwoDaysCount() throws {
        let event = scene.event("a", of: "u", id: 1)
        #expect(answer([event]) == #"200 {"accepted":1,"rejected":0,"updated":0}"#)
        app.time.advance(by: .seconds(48 * 3600))
        #expect(answer([event]) == #"200 {"accepted":0,"rejected":0,"updated":1}"#)
        #expect(try rows() == ["a at 05-14 of u"])
        app.time.advance(by: .seconds(48 * 3600 + 1))
        #expect(answer([event]) == #"200 {"accepted":1,"rejected":0,"updated":0}"#)
        #expect(try rows() == ["a at 05-14 of u", "a at 05-16 of u"])
        try expectExactCounters()
    }

    @Test func withoutAnIDNothingIsUpdated() throws {
        let event = scene.event("a", at: "2026-02-01")
        for _ in 1...2 { #expect(answer([event, event]) == #"200 {"accepted":2,"rejected":0,"updated":0}"#) }
    }

    @Test func otherAppsRowsAreNotTouched() throws {
        let (_, other) = try scene.makeApp()
        let event = scene.event("a", of: "u", id: 1, at: "2026-05-01")
        #expect(client.send(scene.ingest([event], token: other))["accepted"] == 1)
        #expect(answer([event]) == #"200 {"accepted":1,"rejected":0,"updated":0}"#)
    }

    @Test func eventsOfIngestAreUpdatedToo() throws {
        #expect(client.send(scene.ingest([scene.event("a", of: "u", id: 1, at: "2026-05-01")]))["accepted"] == 1)
        #expect(
            answer([scene.event("b", id: 1, at: "2026-05-01")]) == #"200 {"accepted":0,"rejected":0,"updated":1}"#)
        #expect(try rows() == ["b at 05-01"])
        #expect(try scene.counters().isEmpty)
        try expectExactCounters()
    }

    // MARK: Claims

    @Test func rowsOfATombstoneCountForItsOwner() throws {
        _ = client.send(
            scene.importing([
                scene.event("anonymous", of: "owl_anon_a", id: 1, at: "2026-02-01"),
                scene.event("real", of: "u", id: 2, at: "2026-02-01"),
            ]))
        #expect(client.send(scene.claim("owl_anon_a", "u"))["events_reassigned_count"] == 1)
        #expect(try scene.counters() == ["u 2026-02: 2"])
        // The row still names the tombstone, and so does the event.
        let batch = [
            scene.event("late", of: "owl_anon_a", id: 1, at: "2026-03-01"), scene.event("x", of: "v", at: "2026-01-01"),
        ]
        #expect(answer(batch) == #"200 {"accepted":1,"rejected":0,"updated":1}"#)
        #expect(try scene.records() == ["owl_anon_a -> u", "u", "v"])
        #expect(try rows() == ["x at 01-01 of v", "late at 03-01 of u", "real at 02-01 of u"])
        #expect(try scene.counters() == ["u 2026-02: 1", "u 2026-03: 1", "v 2026-01: 1"])
        // The event now names another user.
        #expect(
            answer([scene.event("moved", of: "v", id: 1, at: "2026-03-01")])
                == #"200 {"accepted":0,"rejected":0,"updated":1}"#)
        #expect(try scene.counters() == ["u 2026-02: 1", "v 2026-01: 1", "v 2026-03: 1"])
        try expectExactCounters()
    }

    @Test func aRecordIsLeftWhenItsLastEventMoves() throws {
        _ = client.send(scene.importing([scene.event("a", of: "u", id: 1, at: "2026-02-01")]))
        _ = client.send(scene.importing([scene.event("a", of: "v", id: 1, at: "2026-02-01")]))
        #expect(try scene.records() == ["u", "v"])
        #expect(try scene.counters() == ["v 2026-02: 1"])
    }
}
