import Analytics
import HTTP
import JSON
import MariaDB
import TestSupport
import Testing

/// Analytics §8 over the wire: the answers, and the stored rows.
@Suite struct IngestTests {
    let app: TestApp
    let scene: AnalyticsScene
    let client: Client

    init() throws {
        app = try TestApp()
        scene = try AnalyticsScene(app)
        client = app.client()
    }

    private func answer(_ events: [JSONValue]) -> String { "\(client.send(scene.ingest(events)))" }

    /// The columns of the rows of a table as text, by the names of the columns.
    private func rows(_ sql: String) throws -> [[String: String]] {
        let (db, columns) = (try database(), sql.split(separator: " FROM ")[0].dropFirst(7).split(separator: ", "))
        return try db.query(sql).map { row in
            Dictionary(
                uniqueKeysWithValues: zip(columns, row).compactMap { column, value in
                    value.map { (String(column), String(decoding: $0, as: UTF8.self)) }
                })
        }
    }

    private func database() throws -> Connection { try app.database.connect() }

    // MARK: The request

    @Test(arguments: [nil, .null, [], [:], "events", 7] as [JSONValue?])
    func eventsAreAnArray(events: JSONValue?) {
        let body = (["bundle_id": "com.example"] as JSONValue).adding(["events": events])
        #expect("\(client.send(scene.post("/v1/ingest", body)))" == refusal(400, "events array is required"))
    }

    @Test func aRequestWithoutABody() {
        for body in [[], Array("null".utf8), Array("[]".utf8), Array("7".utf8)] as [[UInt8]] {
            let answer = client.send(
                .post, "/v1/ingest", bytes: body, token: scene.clientKey,
                headers: [(name: "content-type", value: "application/json")])
            #expect("\(answer)" == refusal(400, "events array is required"))
        }
    }

    @Test func atMostAHundred() throws {
        let events = (1...101).map { scene.event("\($0)") }
        #expect(answer(events) == refusal(400, "Maximum batch size is 100"))
        #expect(try scene.events().isEmpty)
        #expect(answer(events.dropLast()) == #"200 {"accepted":100,"rejected":0}"#)
    }

    @Test func theAppIsChecked() throws {
        func refused(_ body: JSONValue, _ token: String? = nil) -> String {
            "\(client.send(scene.post("/v1/ingest", body, token)))"
        }
        let events: JSONValue = [scene.event()]
        let agent = try scene.makeKey(.agent, permissions: [.eventsWrite])
        #expect(refused(["events": events], agent) == refusal(400, "API key must be scoped to an app"))
        #expect(refused(["events": []], agent) == refusal(400, "events array is required"))
        #expect(refused(["events": events]) == refusal(400, "bundle_id is required"))
        #expect(refused(["events": events, "bundle_id": 7]) == refusal(400, "bundle_id is required"))
        for bundle in ["", "com.example.other", "COM.EXAMPLE", "com.example "] {
            #expect(
                refused(["events": events, "bundle_id": .string(bundle)])
                    == refusal(403, "bundle_id does not match the app associated with this API key"))
        }
        let gone = refusal(400, "App associated with this API key no longer exists")
        try app.change("UPDATE apps SET deleted_at = created_at")
        #expect(refused(["events": events]) == gone)
        try app.change("UPDATE apps SET deleted_at = NULL")
        try app.change("UPDATE projects SET deleted_at = created_at")
        #expect(refused(["events": events]) == gone)
        #expect(try scene.events().isEmpty)
    }

    @Test func anAppWithoutABundleTakesAny() throws {
        let (_, key) = try scene.makeApp(platform: .backend)
        for body in [["events": [scene.event()]], ["events": [scene.event()], "bundle_id": "any"]] as [JSONValue] {
            #expect("\(client.send(scene.post("/v1/ingest", body, key)))" == #"200 {"accepted":1,"rejected":0}"#)
        }
    }

    @Test func anImportKeyMayIngest() {
        #expect(
            "\(client.send(scene.ingest([scene.event()], token: scene.importKey)))"
                == #"200 {"accepted":1,"rejected":0}"#)
    }

    // MARK: Events

    @Test func badEventsAreRejectedByIndex() throws {
        let events: [JSONValue] = [
            .null, scene.event("good"), scene.event(""), scene.event("x", of: String(repeating: "u", count: 256)),
            scene.event("x", ["client_event_id": "7"]), scene.event("x", of: "a\0"), scene.event("also good", of: "u"),
        ]
        let answer = client.send(scene.ingest(events))
        #expect(
            answer.json == [
                "accepted": 2, "rejected": 5,
                "errors": [
                    ["index": 0, "message": "events[0]: must be an object"],
                    ["index": 2, "message": "events[2]: message is required and must be a string"],
                    ["index": 3, "message": "events[3]: user_id exceeds max length of 255"],
                    ["index": 4, "message": "events[4]: client_event_id must be a UUID"],
                    ["index": 5, "message": "events[5]: user_id must not contain NUL characters"],
                ],
            ])
        #expect(try scene.events() == ["also good of u", "good"])
        #expect(try scene.records() == ["u"])
    }

    @Test func nothingIsKeptOfABatchOfBadEvents() throws {
        // Notes the first use of the key.
        _ = answer([])
        try app.expectUnchanged {
            #expect(
                answer([scene.event("", of: "u"), 7])
                    == #"200 {"accepted":0,"rejected":2,"errors":["#
                    + #"{"index":0,"message":"events[0]: message is required and must be a string"},"#
                    + #"{"index":1,"message":"events[1]: must be an object"}]}"#)
        }
    }

    @Test func everyFieldIsStored() throws {
        let event = scene.event(
            "hello", of: "u", id: 1, at: "2026-05-11T23:59:59.9999Z",
            [
                "level": "warn", "source_module": "cart", "screen_name": "Cart", "environment": "ipados",
                "custom_attributes": ["b": 5.0, "a": "é\"\n"], "os_version": "17.0", "app_version": "1.2",
                "sdk_name": "sdk", "sdk_version": "2", "device_model": "iPad", "build_number": "7",
                "locale": "de_CH", "preferred_language": "de", "is_dev": true, "unknown": [1],
            ])
        let request = scene.ingest([event])
        let answer = client.send(
            .post, request.path, request.body, token: request.token,
            headers: [(name: "cf-ipcountry", value: " ch ")])
        #expect(answer.json == ["accepted": 1, "rejected": 0])
        let row = try #require(
            try rows(
                """
                SELECT level, source_module, message, screen_name, custom_attributes, environment, os_version, \
                app_version, sdk_name, sdk_version, device_model, build_number, locale, preferred_language, \
                country_code, is_dev, timestamp, received_at, \
                HEX(session_id), HEX(client_event_id), HEX(app_id) FROM events
                """
            ).first)
        #expect(
            row == [
                "level": "warn", "source_module": "cart", "message": "hello", "screen_name": "Cart",
                "custom_attributes": #"{"b":"5","a":"é\"\n"}"#, "environment": "ipados", "os_version": "17.0",
                "app_version": "1.2", "sdk_name": "sdk", "sdk_version": "2", "device_model": "iPad",
                "build_number": "7", "locale": "de_CH", "preferred_language": "de", "country_code": "CH",
                "is_dev": "1", "timestamp": "2026-05-11 23:59:59.999", "received_at": "2026-05-12 07:00:00.000",
                "HEX(session_id)": hexadecimal(AnalyticsScene.session), "HEX(client_event_id)": hexadecimal(uuid(1)),
                "HEX(app_id)": hexadecimal(scene.appID),
            ])
        #expect(
            try app.column(
                "SELECT k.key_type FROM events e JOIN api_keys k ON k.id = e.api_key_id AND k.app_id = e.app_id")
                == ["client"])
    }

    @Test func anEventWithLittleMoreThanItsMessage() throws {
        #expect(answer([scene.event()]) == #"200 {"accepted":1,"rejected":0}"#)
        #expect(
            try rows(
                """
                SELECT source_module, screen_name, custom_attributes, environment, os_version, client_event_id, \
                app_user_id, country_code, is_dev, timestamp FROM events
                """) == [["is_dev": "0", "timestamp": "2026-05-12 07:00:00.000"]])
        #expect(try scene.records().isEmpty)
        #expect(try scene.counters().isEmpty)
    }

    @Test func lengthsAtTheColumnsLimits() throws {
        let emoji = String(repeating: "😀", count: 127) + "a"
        let marks = "u" + String(repeating: "\u{301}", count: 254)
        let long = String(repeating: "m", count: 500_000)
        let events = [
            scene.event(emoji, of: emoji, ["screen_name": .string(emoji)]), scene.event("marks", of: marks),
            scene.event("z" + long, ["source_module": .string(long)]),
        ]
        #expect(answer(events) == #"200 {"accepted":3,"rejected":0}"#)
        #expect(try app.column("SELECT user_id FROM app_users ORDER BY user_id").map(\.utf16.count) == [255, 255])
        #expect(try app.column("SELECT screen_name FROM events WHERE screen_name IS NOT NULL") == [emoji])
        #expect(try app.count("SELECT COUNT(*) FROM events WHERE LENGTH(source_module) = 500000") == 1)
    }

    @Test func halfAPairIsRepaired() throws {
        let body = """
            {"bundle_id":"com.example","events":[{"message":"cut \\ud83d","level":"info","user_id":"u\\udc00",
            "session_id":"\(AnalyticsScene.session)","custom_attributes":{"\\ud83d":"\\ude00x"}}]}
            """
        let answer = client.send(
            .post, "/v1/ingest", bytes: Array(body.utf8), token: scene.clientKey,
            headers: [(name: "content-type", value: "application/json")])
        #expect(answer.json == ["accepted": 1, "rejected": 0])
        #expect(try scene.events() == ["cut \u{FFFD} of u\u{FFFD}"])
        #expect(
            try app.column("SELECT custom_attributes FROM events") == ["{\"\u{FFFD}\":\"\u{FFFD}x\"}"])
    }

    @Test func numbersAtTheirLimits() throws {
        let body = """
            {"bundle_id":"com.example","events":[{"message":"a","level":"info","session_id":"\(AnalyticsScene.session)",
            "timestamp":1e400},{"message":"b","level":"info","session_id":"\(AnalyticsScene.session)",
            "timestamp":1778569200000.0,"custom_attributes":{"a":1e400,"b":-0,"c":9007199254740993,"d":1e2,"e":[0.1]}}]}
            """
        let answer = client.send(
            .post, "/v1/ingest", bytes: Array(body.utf8), token: scene.clientKey,
            headers: [(name: "content-type", value: "application/json")])
        #expect(
            answer.json == [
                "accepted": 1, "rejected": 1,
                "errors": [["index": 0, "message": "events[0]: timestamp must be a valid ISO 8601 date"]],
            ])
        #expect(
            try app.column("SELECT custom_attributes FROM events")
                == [#"{"a":"null","b":"0","c":"9007199254740993","d":"100","e":"[0.1]"}"#])
    }

    @Test func attributesNestedDeeplyAreText() throws {
        let deep = (1...59).reduce(JSONValue.array([])) { value, _ in .array([value]) }
        let answer = answer([scene.event("deep", ["custom_attributes": ["deep": deep]])])
        #expect(answer == #"200 {"accepted":1,"rejected":0}"#)
        let text = String(repeating: "[", count: 60) + String(repeating: "]", count: 60)
        #expect(try app.column("SELECT JSON_VALUE(custom_attributes, '$.deep') FROM events") == [text])
    }

    @Test func thePartitionsTakeEveryTime() throws {
        let times = ["2026-05-12T07:04:59Z", "2026-05-01", "2026-04-30T23:59:59.999Z", "2026-04-12T07:00:00Z"]
        #expect(
            answer(times.map { scene.event($0, at: $0) }) == #"200 {"accepted":4,"rejected":0}"#)
        #expect(try scene.events() == times.reversed())
    }

    @Test func nothingBeforeTheHorizon() throws {
        try app.change("UPDATE retention_horizons SET horizon = '2026-05-01' WHERE table_name = 'events'")
        let answer = client.send(
            scene.ingest([scene.event("old", at: "2026-04-30T23:59:59.999Z"), scene.event("new", at: "2026-05-01")]))
        #expect(
            answer.json == [
                "accepted": 1, "rejected": 1,
                "errors": [["index": 0, "message": "events[0]: timestamp is older than the retention period"]],
            ])
        #expect(try scene.events() == ["new"])
    }

    // MARK: Duplicates

    @Test func theSameIDAndTimeIsADuplicate() throws {
        let event = scene.event("a", of: "u", id: 1, at: "2026-05-12T06:00:00.5Z")
        #expect(answer([event]) == #"200 {"accepted":1,"rejected":0}"#)
        try app.expectUnchanged {
            #expect(answer([event]) == #"200 {"accepted":0,"rejected":0,"duplicates":1}"#)
            // Even if another user sends it with other data.
            let other = scene.event(
                "b", of: "somebody else", id: 1, at: "2026-05-12T07:00:00.5+01:00", ["is_dev": true])
            #expect(answer([other, other]) == #"200 {"accepted":0,"rejected":0,"duplicates":2}"#)
        }
        let later = scene.event("later", of: "u", id: 1, at: "2026-05-12T06:00:00.501Z")
        #expect(answer([event, later, later]) == #"200 {"accepted":1,"rejected":0,"duplicates":2}"#)
        #expect(try scene.counters() == ["u 2026-05: 2"])
        let (_, key) = try scene.makeApp(platform: .apple)
        #expect(
            "\(client.send(scene.ingest([event], token: key)))" == #"200 {"accepted":1,"rejected":0}"#)
    }

    @Test func theFirstOfABatchStays() throws {
        let events = (1...5).map { scene.event("\($0)", of: "u\($0)", id: 1, at: "2026-05-12T06:00:00Z") }
        #expect(answer(events) == #"200 {"accepted":1,"rejected":0,"duplicates":4}"#)
        #expect(try scene.events() == ["1 of u1"])
        #expect(try scene.records() == ["u1"])
        #expect(try scene.counters() == ["u1 2026-05: 1"])
    }

    @Test func withoutATimeTheLastTwoDaysCount() throws {
        let undated = scene.event("undated", of: "u", id: 1)
        #expect(answer([undated, undated]) == #"200 {"accepted":1,"rejected":0,"duplicates":1}"#)
        app.time.advance(by: .seconds(48 * 3600))
        #expect(answer([undated]) == #"200 {"accepted":0,"rejected":0,"duplicates":1}"#)
        app.time.advance(by: .milliseconds(1))
        #expect(answer([undated]) == #"200 {"accepted":1,"rejected":0}"#)
        // An earlier event of the batch with a timestamp counts as well, whatever its time. A later event with a
        // timestamp is compared by that time.
        let dated = scene.event("dated", of: "u", id: 2, at: "2026-05-01")
        let second = scene.event("undated", of: "u", id: 2)
        #expect(answer([dated, second]) == #"200 {"accepted":1,"rejected":0,"duplicates":1}"#)
        #expect(answer([second, dated]) == #"200 {"accepted":1,"rejected":0,"duplicates":1}"#)
        #expect(try scene.counters() == scene.countedEvents())
    }

    @Test func aRejectedEventIsNobodysFirst() {
        #expect(
            client.send(scene.ingest([scene.event("", id: 1), scene.event("a", id: 1)]))["accepted"] == 1)
    }

    @Test func withoutAnIDNothingIsADuplicate() throws {
        let event = scene.event("a", at: "2026-05-12T06:00:00Z")
        #expect(answer([event, event]) == #"200 {"accepted":2,"rejected":0}"#)
        #expect(answer([event]) == #"200 {"accepted":1,"rejected":0}"#)
    }

    // MARK: Copies

    @Test func metricsAndStepsAreCopied() throws {
        let events = [
            scene.event(
                "metric:load-time:complete", of: "u", id: 1, at: "2026-05-12T06:00:00Z",
                [
                    "custom_attributes": [
                        "tracking_id": .string(uuid(9)), "duration_ms": "120.7", "error": "none", "x": 1,
                    ], "environment": "ios", "screen_name": "S", "app_version": "1",
                ]),
            scene.event("metric:load-time:start", at: "2026-05-12T06:00:01Z"),
            scene.event("metric:load-time:begin", at: "2026-05-12T06:00:02Z"),
            scene.event("step:pay", of: "u", at: "2026-05-12T06:00:03Z", ["screen_name": "S"]),
            scene.event(
                "track:pay", of: "u", id: 2, at: "2026-05-12T06:00:04Z", ["custom_attributes": ["a": true]]),
        ]
        #expect(answer(events) == #"200 {"accepted":5,"rejected":0}"#)
        let before = try app.database.dump()
        #expect(answer([events[0], events[4]]) == #"200 {"accepted":0,"rejected":0,"duplicates":2}"#)
        #expect(try app.database.dump() == before)
        #expect(try scene.events().count == 5)
        #expect(
            try rows(
                """
                SELECT metric_slug, phase, HEX(tracking_id), duration_ms, error, attributes, environment, app_version, \
                HEX(client_event_id), user_id, timestamp FROM metric_events_resolved ORDER BY timestamp
                """) == [
                    [
                        "metric_slug": "load-time", "phase": "complete", "HEX(tracking_id)": hexadecimal(uuid(9)),
                        "duration_ms": "120", "error": "none",
                        "attributes":
                            "{\"tracking_id\":\"\(uuid(9))\",\"duration_ms\":\"120.7\",\"error\":\"none\",\"x\":\"1\"}",
                        "environment": "ios", "app_version": "1", "HEX(client_event_id)": hexadecimal(uuid(1)),
                        "user_id": "u", "timestamp": "2026-05-12 06:00:00.000",
                    ],
                    [
                        "metric_slug": "load-time", "phase": "start", "attributes": "{}",
                        "timestamp": "2026-05-12 06:00:01.000",
                    ],
                ])
        #expect(
            try rows(
                """
                SELECT step_name, message, screen_name, custom_attributes, user_id FROM funnel_events_resolved \
                ORDER BY timestamp
                """) == [
                    ["step_name": "pay", "message": "step:pay", "screen_name": "S", "user_id": "u"],
                    [
                        "step_name": "pay", "message": "track:pay", "custom_attributes": #"{"a":"true"}"#,
                        "user_id": "u",
                    ],
                ])
    }

    // MARK: Users

    private func user(_ name: String) throws -> [String: String] {
        try rows(
            """
            SELECT is_anonymous, first_seen_at, last_seen_at, last_country_code, last_app_version, last_sdk_name, \
            last_sdk_version, last_locale, last_preferred_language, is_dev FROM app_users WHERE user_id = '\(name)'
            """
        ).first ?? [:]
    }

    @Test func aUserIsMadeAndSeenAgain() throws {
        _ = client.send(
            scene.ingest([
                scene.event("a", of: "owl_anon_a", at: "2026-05-01", ["app_version": "1", "is_dev": true]),
                scene.event("b", of: "owl_anon_a", ["locale": "de"]),
            ]))
        #expect(
            try user("owl_anon_a") == [
                "is_anonymous": "1", "first_seen_at": "2026-05-12 07:00:00.000",
                "last_seen_at": "2026-05-12 07:00:00.000", "last_app_version": "1", "last_locale": "de", "is_dev": "1",
            ])
        app.time.advance(by: .seconds(60))
        _ = client.send(scene.ingest([scene.event("c", of: "owl_anon_a", ["app_version": "2"])]))
        #expect(
            try user("owl_anon_a") == [
                "is_anonymous": "1", "first_seen_at": "2026-05-12 07:00:00.000",
                "last_seen_at": "2026-05-12 07:01:00.000", "last_app_version": "2", "last_locale": "de", "is_dev": "0",
            ])
        #expect(
            try rows("SELECT first_seen_at, last_seen_at, HEX(app_id) FROM app_user_apps") == [
                [
                    "first_seen_at": "2026-05-12 07:00:00.000", "last_seen_at": "2026-05-12 07:01:00.000",
                    "HEX(app_id)": hexadecimal(scene.appID),
                ]
            ])
        #expect(try scene.counters() == ["owl_anon_a 2026-05: 3"])
    }

    /// The time alone is noted once a minute (analytics §8.4); whatever else is new at once.
    @Test func aUserIsSeenOnceAMinute() throws {
        let other = try scene.makeApp(bundleID: "com.example")
        func seen() throws -> [String] {
            try app.column(
                """
                SELECT CONCAT_WS(' ', TIME(u.last_seen_at), u.last_app_version, u.is_dev, (
                    SELECT GROUP_CONCAT(TIME(v.last_seen_at) ORDER BY v.first_seen_at)
                    FROM app_user_apps v WHERE v.app_user_id = u.id))
                FROM app_users u
                """)
        }
        func send(_ id: Int, version: String? = "1", isDev: Bool = false, token: String? = nil) throws -> [String] {
            let event = scene.event(
                "m", of: "u", id: id, ["app_version": version.map { .string($0) }, "is_dev": .bool(isDev)])
            #expect(client.send(scene.ingest([event], token: token))["accepted"] == 1)
            return try seen()
        }
        #expect(try send(1) == ["07:00:00.000 1 0 07:00:00.000"])
        app.time.advance(by: .milliseconds(59_999))
        #expect(try send(2) == ["07:00:00.000 1 0 07:00:00.000"])
        #expect(try send(3, version: nil) == ["07:00:00.000 1 0 07:00:00.000"])
        app.time.advance(by: .milliseconds(1))
        #expect(try send(4) == ["07:01:00.000 1 0 07:01:00.000"])
        app.time.advance(by: .seconds(1))
        #expect(try send(5, version: "2") == ["07:01:01.000 2 0 07:01:01.000"])
        app.time.advance(by: .seconds(1))
        #expect(try send(6, version: "2", isDev: true) == ["07:01:02.000 2 1 07:01:02.000"])
        app.time.advance(by: .seconds(1))
        #expect(
            try send(7, version: "2", isDev: true, token: other.clientKey)
                == ["07:01:03.000 2 1 07:01:02.000,07:01:03.000"])
        #expect(try scene.counters() == ["u 2026-05: 7"])
    }

    @Test func factsComeFromTheUsersOwnEventsFirst() throws {
        let facts: KeyValuePairs<String, JSONValue?> = [
            "app_version": "batch", "sdk_name": "batch", "sdk_version": "batch", "locale": "batch",
            "preferred_language": "batch",
        ]
        let answer = client.send(
            .post, "/v1/ingest",
            [
                "bundle_id": "com.example",
                "events": [
                    scene.event("x", of: "a", ["app_version": ""]), scene.event("nobody", facts),
                    scene.event("x", of: "b", ["sdk_name": "own"]),
                    scene.event("x", of: "b", ["sdk_name": "second", "locale": "own"]),
                ],
            ], token: scene.clientKey, headers: [(name: "cf-ipcountry", value: "DE")])
        #expect(answer["accepted"] == 4)
        func known(_ name: String) throws -> [String?] {
            let user = try user(name)
            return [
                "last_country_code", "last_app_version", "last_sdk_name", "last_sdk_version", "last_locale",
                "last_preferred_language",
            ].map { user[$0] }
        }
        #expect(try known("a") == ["DE", "batch", "batch", "batch", "batch", "batch"])
        #expect(try known("b") == ["DE", "batch", "own", "batch", "own", "batch"])
    }

    @Test func duplicatesTellNothing() throws {
        let first = scene.event("a", of: "u", id: 1, at: "2026-05-12T06:00:00Z", ["app_version": "1"])
        _ = client.send(scene.ingest([first]))
        let again = first.adding(["app_version": "2", "is_dev": true, "supported_languages": ["en"]])
        #expect(
            answer([again, scene.event("b", of: "v", at: "2026-05-12T06:00:00Z")])
                == #"200 {"accepted":1,"rejected":0,"duplicates":1}"#)
        // Alone, too, and under another name, which leaves no record.
        #expect(answer([again]) == #"200 {"accepted":0,"rejected":0,"duplicates":1}"#)
        #expect(answer([again.adding(["user_id": "w"])]) == #"200 {"accepted":0,"rejected":0,"duplicates":1}"#)
        #expect(try app.column("SELECT user_id FROM app_users ORDER BY user_id") == ["u", "v"])
        #expect(try app.column("SELECT CAST(n AS CHAR) FROM app_user_event_counts") == ["1", "1"])
        #expect(try user("u")["last_app_version"] == "1")
        #expect(try user("u")["is_dev"] == "0")
        #expect(try user("v")["last_app_version"] == nil)
        #expect(try app.column("SELECT supported_languages FROM apps") == ["NULL"])
    }

    @Test func theLastWriteDecidesIsDevButOfBackends() throws {
        func send(_ isDev: Bool, _ token: String? = nil) throws -> String? {
            _ = client.send(
                scene.ingest(
                    [scene.event("a", of: "u", ["is_dev": .bool(isDev)]), scene.event("b", of: "u")], token: token))
            return try user("u")["is_dev"]
        }
        let (_, backend) = try scene.makeApp(platform: .backend)
        #expect(try send(true, backend) == "0")
        #expect(try send(true) == "1")
        #expect(try send(false, backend) == "1")
        #expect(try send(false) == "0")
        #expect(try send(true, backend) == "0")
    }

    @Test func backendsHaveNoCountry() throws {
        let (_, backend) = try scene.makeApp(platform: .backend)
        let answer = client.send(
            .post, "/v1/ingest", ["events": [scene.event("a", of: "u")]], token: backend,
            headers: [(name: "cf-ipcountry", value: "DE")])
        #expect(answer["accepted"] == 1)
        #expect(try app.column("SELECT country_code FROM events") == ["NULL"])
        #expect(try user("u")["last_country_code"] == nil)
    }

    @Test func severalUsersInOneBatch() throws {
        _ = client.send(scene.ingest([scene.event("old", of: "c", at: "2026-04-30")]))
        let names = ["d", "b", "owl_anon_x", "a", "c", "B", "b "]
        #expect(
            answer(names.map { scene.event("new", of: $0, at: "2026-05-02") }) == #"200 {"accepted":7,"rejected":0}"#)
        #expect(try scene.records() == ["B", "a", "b", "b ", "c", "d", "owl_anon_x"])
        #expect(
            try scene.counters() == [
                "B 2026-05: 1", "a 2026-05: 1", "b 2026-05: 1", "b  2026-05: 1", "c 2026-04: 1", "c 2026-05: 1",
                "d 2026-05: 1", "owl_anon_x 2026-05: 1",
            ])
        #expect(try scene.counters() == scene.countedEvents())
    }

    @Test func claimedIDsAreTheirOwners() throws {
        _ = client.send(scene.ingest([scene.event("before", of: "owl_anon_a", at: "2026-05-01")]))
        #expect(client.send(scene.claim("owl_anon_a", "u"))["events_reassigned_count"] == 1)
        let (_, other) = try scene.makeApp()
        for token in [nil, other] {
            let late = scene.event("late", of: "owl_anon_a", at: "2026-05-02")
            let own = scene.event("own", of: "u", at: "2026-05-03")
            #expect(client.send(scene.ingest([late, own], token: token))["accepted"] == 2)
        }
        #expect(try scene.records() == ["u"])
        #expect(try scene.events() == ["before of u", "late of u", "late of u", "own of u", "own of u"])
        #expect(try scene.counters() == ["u 2026-05: 5"])
        #expect(try app.count("SELECT COUNT(*) FROM app_user_apps") == 2)
    }

    // MARK: Attachments and languages

    private func reserve(_ id: Int, event: Int, user: String? = nil) throws {
        let owner = try user.flatMap { try scene.recordID(of: $0) }
        try app.change(
            """
            INSERT INTO event_attachments (id, project_id, app_id, event_client_id, app_user_id, original_filename,
                                           content_type, size_bytes, sha256, is_dev, created_at)
            VALUES (?, ?, ?, ?, ?, 'f', 'text/plain', 1, ?, 0, ?)
            """, UUID(uuid(id)), scene.project, scene.appID, UUID(uuid(event)), owner,
            String(repeating: "a", count: 64), app.time.now)
    }

    private func attachments() throws -> [String] {
        try app.column(
            """
            SELECT CONCAT_WS(' ', COALESCE(e.message, '-'), COALESCE(u.user_id, '-'))
            FROM event_attachments a LEFT JOIN events e ON e.id = a.event_id LEFT JOIN app_users u ON u.id = a.app_user_id
            ORDER BY a.id
            """)
    }

    @Test func attachmentsFindTheirEvents() throws {
        _ = client.send(scene.ingest([scene.event("first", of: "somebody", id: 1, at: "2026-05-01")]))
        try reserve(1, event: 7)
        try reserve(2, event: 7, user: "somebody")
        try reserve(3, event: 8)
        try reserve(4, event: 9)
        try reserve(5, event: 7)
        try app.change("UPDATE event_attachments SET deleted_at = created_at WHERE id = ?", UUID(uuid(5)))
        let events = [
            scene.event("seven", of: "u", id: 7, at: "2026-05-02"), scene.event("eight", id: 8, at: "2026-05-02"),
            scene.event("no id", of: "u"),
        ]
        #expect(client.send(scene.ingest(events))["accepted"] == 3)
        #expect(try attachments() == ["seven u", "seven somebody", "eight -", "- -", "- -"])
        // The same client id at another time: an attachment that has an event keeps it.
        let again = scene.event("seven again", of: "u", id: 7, at: "2026-05-03")
        #expect(client.send(scene.ingest([again]))["accepted"] == 1)
        #expect(try attachments() == ["seven u", "seven somebody", "eight -", "- -", "- -"])
    }

    @Test func otherAppsAttachmentsAreNotTouched() throws {
        try reserve(1, event: 7)
        let (_, other) = try scene.makeApp()
        _ = client.send(scene.ingest([scene.event("seven", of: "u", id: 7)], token: other))
        #expect(try attachments() == ["- -"])
    }

    @Test func languagesAreTheApps() throws {
        func languages() throws -> [String] {
            try app.column("SELECT CONCAT_WS(' ', supported_languages, supported_languages_source) FROM apps")
        }
        func send(_ languages: JSONValue...) {
            _ = client.send(scene.ingest(languages.map { scene.event("a", ["supported_languages": $0]) }))
        }
        send("en", ["en", 1], [], ["Base"])
        #expect(try languages() == [""])
        send(.null, [], [" fr ", "en", "Base", "en"], ["de"])
        #expect(try languages() == [#"["en","fr"] sdk"#])
        try app.change("UPDATE apps SET supported_languages_source = 'operator'")
        send(["fr", "en"])
        #expect(try languages() == [#"["en","fr"] operator"#])
        send(["fr"])
        #expect(try languages() == [#"["fr"] sdk"#])
        // A list that is too long is ignored.
        send(.array((0...200).map { .string("l\($0)") }), [.string(String(repeating: "x", count: 36))])
        #expect(try languages() == [#"["fr"] sdk"#])
    }
}
