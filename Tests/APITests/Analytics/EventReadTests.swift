import Analytics
import JSON
import TestSupport
import Testing
import Time

/// Analytics §13.1 over the wire.
@Suite struct EventReadTests {
    let app: TestApp
    let scene: AnalyticsScene
    let client: Client

    init() throws {
        app = try TestApp()
        scene = try AnalyticsScene(app)
        client = app.client()
    }

    private func messages(_ query: String = "") -> [String] {
        scene.get("/v1/events" + query, client).all("message", in: "events")
    }

    // MARK: Answers

    @Test func anEventIsShownWithAllItsMembers() throws {
        let user = try scene.insertUser("u")
        let (full, bare) = (try scene.insertEvent("full", of: user), try scene.insertEvent("bare", environment: nil))
        try app.change(
            """
            UPDATE events SET client_event_id = x'0000000000004000800000000000000C',
                api_key_id = x'0000000000004000800000000000000D', source_module = 'm', screen_name = 's',
                custom_attributes = '{"b":"2","a":"1"}', os_version = 'o', app_version = 'av', sdk_name = 'sn',
                sdk_version = 'sv', device_model = 'dm', build_number = 'bn', locale = 'l', preferred_language = 'pl',
                country_code = 'DE', received_at = '2026-05-12 07:00:01.5'
            WHERE id = ?
            """, full)
        try app.change("UPDATE events SET timestamp = '2026-05-12 06:00:00.007' WHERE id = ?", bare)
        let fullText = """
            {"id":"\(full)","app_id":"\(scene.appID)","client_event_id":"00000000-0000-4000-8000-00000000000c",\
            "session_id":"\(AnalyticsScene.session)","user_id":"u","api_key_id":"00000000-0000-4000-8000-00000000000d",\
            "level":"info","source_module":"m","message":"full","screen_name":"s","custom_attributes":{"b":"2","a":"1"},\
            "environment":"ios","os_version":"o","app_version":"av","sdk_name":"sn","sdk_version":"sv",\
            "device_model":"dm","build_number":"bn","locale":"l","preferred_language":"pl","country_code":"DE",\
            "is_dev":false,"timestamp":"2026-05-12T07:00:00.000Z","received_at":"2026-05-12T07:00:01.500Z"
            """
        let bareText = """
            {"id":"\(bare)","app_id":"\(scene.appID)","client_event_id":null,"session_id":"\(AnalyticsScene.session)",\
            "user_id":null,"api_key_id":null,"level":"info","source_module":null,"message":"bare","screen_name":null,\
            "custom_attributes":null,"environment":null,"os_version":null,"app_version":null,"sdk_name":null,\
            "sdk_version":null,"device_model":null,"build_number":null,"locale":null,"preferred_language":null,\
            "country_code":null,"is_dev":false,"timestamp":"2026-05-12T06:00:00.007Z",\
            "received_at":"2026-05-12T07:00:00.000Z"
            """
        let answer = scene.get("/v1/events", client)
        #expect("\(answer)" == #"200 {"events":[\#(fullText)},\#(bareText)}],"cursor":null,"has_more":false}"#)
        #expect(answer.header("Content-Type") == "application/json; charset=utf-8")

        let detail = #","project_id":"\#(scene.project)","attachments":["#
        #expect("\(scene.get("/v1/events/\(bare)", client))" == "200 \(bareText)\(detail)]}")
        for (number, name) in ["second", "first", "deleted", "another's"].enumerated() {
            try app.change(
                """
                INSERT INTO event_attachments (id, project_id, app_id, event_client_id, event_id, original_filename,
                    content_type, size_bytes, sha256, is_dev, uploaded_at, created_at, deleted_at)
                VALUES (?, ?, ?, RANDOM_BYTES(16), ?, ?, 'text/plain', 7, '', FALSE, ?, ?, ?)
                """, UUID("00000000-0000-4000-8000-00000000000\(number)"), scene.project, scene.appID,
                name == "another's" ? full : bare, name, name == "first" ? app.time.now : nil,
                app.time.now - .seconds(number), name == "deleted" ? app.time.now : nil)
        }
        let attachments = """
            {"id":"00000000-0000-4000-8000-000000000001","original_filename":"first","content_type":"text/plain",\
            "size_bytes":7,"uploaded_at":"2026-05-12T07:00:00.000Z"},\
            {"id":"00000000-0000-4000-8000-000000000000","original_filename":"second","content_type":"text/plain",\
            "size_bytes":7,"uploaded_at":null}
            """
        #expect(
            "\(scene.get("/v1/events/\(bare.description.uppercased())", client))"
                == "200 \(bareText)\(detail)\(attachments)]}")
    }

    @Test func countsAreOfEventsUsersAndSessions() throws {
        #expect(
            "\(scene.get("/v1/events/count", client))" == #"200 {"count":0,"unique_users":0,"unique_sessions":0}"#)
        let owner = try scene.insertUser("u")
        let tombstone = try scene.insertUser("owl_anon_a", mergedInto: owner)
        let other = try scene.insertUser("v")
        for (user, session) in [(owner, 1), (tombstone, 1), (tombstone, 2), (other, 3), (nil, 4)] as [(Int64?, Int)] {
            try scene.insertEvent("", of: user, session: "00000000-0000-4000-8000-00000000000\(session)")
        }
        #expect(
            "\(scene.get("/v1/events/count", client))" == #"200 {"count":5,"unique_users":2,"unique_sessions":4}"#)
        #expect(
            "\(scene.get("/v1/events/count?user_id=u", client))"
                == #"200 {"count":3,"unique_users":1,"unique_sessions":2}"#)
    }

    /// Reading the horizon takes longer here than a count may take.
    @Test func aCountThatTakesTooLongIsGivenUp() throws {
        try scene.insertEvent("")
        try app.change("RENAME TABLE retention_horizons TO horizons")
        try app.change(
            "CREATE VIEW retention_horizons AS SELECT table_name, horizon FROM horizons WHERE SLEEP(10) = 0")
        let answer = scene.get("/v1/events/count", client)
        #expect("\(answer)" == refusal(503, "Service temporarily unavailable"))
        #expect(answer.header("Retry-After") == "1")
        // The next request has the usual time limit, and a working connection.
        try app.change("DROP VIEW retention_horizons")
        try app.change("RENAME TABLE horizons TO retention_horizons")
        #expect(scene.get("/v1/events/count", client)["count"] == 1)
        #expect(app.log.lines.contains { $0.contains("1969") })
    }

    // MARK: Filters

    @Test(
        arguments: [
            ("", "e d c b a"), ("order=asc", "a b c d e"), ("order=up", "e d c b a"), ("level=error", "b"),
            ("level=warn,error", "c b"), ("level=%20warn%20,,", "c"), ("level=", "e d c b a"),
            ("environment=android", "d"), ("environment=amiga", ""), ("environment=IOS", ""), ("screen_name=Home", "a"),
            ("screen_name=home", ""), ("screen_name=Home%20", ""), ("screen_name=Two+words", "b"),
            ("session_id=00000000-0000-4000-8000-00000000000A", "c"), ("session_id=x", ""),
            ("session_id=", "e d c b a"),
            ("data_mode=production", "e d c b a"), ("data_mode=development", "f"), ("data_mode=all", "f e d c b a"),
            ("data_mode=x", "e d c b a"), ("user_id=u", "d c"), ("user_id=U", ""), ("user_id=u%20", ""),
            ("user_id=owl_anon_a", ""), ("user_id=owl_anon_b", "b"), ("user_id=", "e d c b a"), ("user_id=%00", ""),
            ("user_id=u&session_id=00000000-0000-4000-8000-00000000000a", "c"),
            ("user_id=u&session_id=00000000-0000-4000-8000-00000000000b", ""), ("user_id=u&level=info", "d"),
            ("since=2026-05-12T06:02:00Z", "e d c b"), ("until=2026-05-12T06:02:00.000%2B00:00", "b a"),
            ("since=2026-05-12T06:02&until=2026-05-12T06:03", "c b"), ("since=57m", "e d c"), ("until=57m", "c b a"),
            ("since=2026-05-13", ""), ("until=9999999999999w", ""), ("since=9999999999999w", "e d c b a"),
            ("limit=2", "e d"), ("limit=0", "e"), ("limit=x", "e d c b a"), ("cursor=x", "e d c b a"),
            ("app_id=x", ""), ("project_id=x", ""), ("team_id=x", ""), ("unknown=x", "e d c b a"),
            ("app_id=00000000-0000-4000-8000-000000000000", ""), ("LEVEL=error", "e d c b a"),
            ("screen_name=%F0%9F%98%80%FF", ""), ("level=error&level=warn", "b"),
        ])
    func filters(query: String, expected: String) throws {
        let owner = try scene.insertUser("u")
        let tombstone = try scene.insertUser("owl_anon_a", mergedInto: owner)
        let anonymous = try scene.insertUser("owl_anon_b")
        func at(_ minute: Int) -> Timestamp { app.time.now - .seconds(3600) + .seconds(60 * minute) }
        try scene.insertEvent("a", at: at(1), screen: "Home")
        try scene.insertEvent("b", of: anonymous, at: at(2), level: "error", screen: "Two words")
        try scene.insertEvent(
            "c", of: tombstone, at: at(3), session: "00000000-0000-4000-8000-00000000000a", level: "warn")
        try scene.insertEvent("d", of: owner, at: at(4), environment: "android")
        try scene.insertEvent("e", at: at(5), level: "debug")
        try scene.insertEvent("f", of: owner, at: at(6), isDev: true)
        let answer = scene.get("/v1/events?" + query, client)
        #expect(answer.status == 200)
        #expect(answer.all("message", in: "events").joined(separator: " ") == expected)
        if !query.hasPrefix("limit") {
            let count = scene.get("/v1/events/count?" + query, client)["count"]
            #expect(count == .integer(Int64(expected.split(separator: " ").count)))
        }
    }

    @Test(arguments: [
        ("level=x", "Unknown log level(s): x. Allowed: info, debug, warn, error"),
        ("level=info,x,Error", "Unknown log level(s): x, Error. Allowed: info, debug, warn, error"),
        ("level=x&since=x", "Unknown log level(s): x. Allowed: info, debug, warn, error"),
        ("since=x", #"Invalid time input: \"x\". Use relative (e.g. 1h, 30m, 7d) or ISO 8601 format."#),
        ("until=1y&app_id=x", #"Invalid time input: \"1y\". Use relative (e.g. 1h, 30m, 7d) or ISO 8601 format."#),
    ])
    func badFiltersAreNamed(query: String, text: String) {
        for path in ["/v1/events?", "/v1/events/count?"] {
            #expect("\(scene.get(path + query, client))" == refusal(400, text))
        }
    }

    @Test func aKeyNeedsThePermission() throws {
        let key = try scene.makeKey(.agent, permissions: [.appsRead])
        for path in ["/v1/events", "/v1/events/count", "/v1/events/x"] {
            #expect("\(scene.get(path, client, token: key))" == refusal(403, "Missing permission: events:read"))
        }
    }

    // MARK: Pages

    @Test(arguments: ["desc", "asc"]) func pagesOfEqualTimesNeitherRepeatNorSkip(order: String) throws {
        let other = try scene.makeApp()
        var expected: Set<String> = []
        for number in 0..<40 {
            expected.insert("\(number)")
            try scene.insertEvent("\(number)", at: app.time.now, app: number % 3 == 0 ? other.id : nil)
        }
        for limit in [1, 7, 39, 40] {
            var (seen, cursor, pages): ([String], String?, Int) = ([], "", 0)
            while let position = cursor {
                let answer = scene.get("/v1/events?order=\(order)&limit=\(limit)&cursor=\(position)", client)
                let page = answer.all("message", in: "events")
                seen += page.filter { expected.contains($0) }
                cursor = answer["cursor"]?.string
                #expect(answer["has_more"] == .bool(cursor != nil))
                #expect(cursor == nil || page.count == limit)
                pages += 1
                // While the pages are read, another event with exactly the same time is inserted.
                if pages % 4 == 0 { try scene.insertEvent("new", at: app.time.now) }
            }
            #expect(seen.count == 40)
            #expect(Set(seen) == expected)
            try app.change("DELETE FROM events WHERE message = 'new'")
        }
    }

    @Test func pagesGoByTimeThenById() throws {
        for (message, second) in [("a", 1), ("c", 3), ("b", 2), ("d", 3)] {
            try scene.insertEvent(message, at: app.time.now - .seconds(10 - second))
        }
        let all = messages()
        #expect(Set(all.prefix(2)) == ["c", "d"])
        #expect(Array(all.suffix(2)) == ["b", "a"])
        #expect(messages("?order=asc") == all.reversed())
    }

    // MARK: Scope

    @Test func aTombstonesEventsAreItsOwners() throws {
        let owner = try scene.insertUser("u")
        for number in 0..<70 {
            let tombstone = try scene.insertUser("owl_anon_\(number)", mergedInto: owner)
            try scene.insertEvent("\(number)", of: tombstone, at: app.time.now - .seconds(number))
        }
        let answer = scene.get("/v1/events?user_id=u&limit=200", client)
        #expect(answer.all("message", in: "events") == (0..<70).map { "\($0)" })
        #expect(Set(answer.all("user_id", in: "events")) == ["u"])
        #expect(messages("?user_id=owl_anon_1") == [])
        #expect(
            "\(scene.get("/v1/events/count?user_id=u", client))"
                == #"200 {"count":70,"unique_users":1,"unique_sessions":1}"#)
    }

    @Test func aUserOfSeveralProjectsIsOneName() throws {
        let other = try AnalyticsScene(app, team: scene.team)
        try scene.insertEvent("a", of: scene.insertUser("u"))
        try other.insertEvent("b", of: other.insertUser("u"))
        #expect(Set(messages("?user_id=u")) == ["a", "b"])
        #expect(messages("?user_id=u&project_id=\(other.project)") == ["b"])
        #expect(messages("?user_id=u&app_id=\(scene.appID)&team_id=\(scene.team)") == ["a"])
        #expect(messages("?app_id=\(scene.appID)&project_id=\(other.project)") == [])
    }

    @Test func manyAppsAreReadTogether() throws {
        for number in 0..<70 {
            try scene.insertEvent("\(number)", at: app.time.now - .seconds(number), app: scene.makeApp().id)
        }
        #expect(messages("?limit=3") == ["0", "1", "2"])
        #expect(messages("?limit=200").count == 70)
    }

    @Test func onlyLiveAppsOfTheKeysTeamAreSeen() throws {
        let (stranger, gone) = (try AnalyticsScene(app), try AnalyticsScene(app, team: scene.team))
        let deleted = try scene.makeApp()
        let ids = [
            try stranger.insertEvent("stranger's"), try gone.insertEvent("of a deleted project"),
            try scene.insertEvent("of a deleted app", of: scene.insertUser("u"), app: deleted.id),
        ]
        let seen = try scene.insertEvent("seen")
        try app.change("UPDATE apps SET deleted_at = created_at WHERE id = ?", deleted.id)
        try app.change("UPDATE projects SET deleted_at = created_at WHERE id = ?", gone.project)
        #expect(messages() == ["seen"])
        #expect(messages("?team_id=\(scene.team)") == ["seen"])
        for query in [
            "team_id=\(stranger.team)", "project_id=\(stranger.project)", "app_id=\(stranger.appID)",
            "project_id=\(gone.project)", "app_id=\(gone.appID)", "app_id=\(deleted.id)", "user_id=u",
        ] {
            #expect(messages("?" + query) == [])
            #expect(scene.get("/v1/events/count?" + query, client)["count"] == 0)
        }
        #expect(scene.get("/v1/events/\(seen)", client).status == 200)
        for id in ids.map(\.description) + ["x", "00000000-0000-4000-8000-000000000000", "count%00"] {
            #expect("\(scene.get("/v1/events/\(id)", client))" == refusal(404, "Event not found"))
        }
    }

    @Test func eventsBeforeTheHorizonAreNotThere() throws {
        let old = try scene.insertEvent("old", at: app.time.now - .seconds(1))
        try scene.insertEvent("new")
        try app.change("UPDATE retention_horizons SET horizon = ? WHERE table_name = 'events'", app.time.now)
        #expect(messages() == ["new"])
        #expect(scene.get("/v1/events/count", client)["count"] == 1)
        #expect("\(scene.get("/v1/events/\(old)", client))" == refusal(404, "Event not found"))
    }
}
