import Analytics
import JSON
import TestSupport
import Testing
import Time

/// Analytics §13.2 over the wire.
@Suite struct EndUserReadTests {
    let app: TestApp
    let scene: AnalyticsScene
    let client: Client

    init() throws {
        app = try TestApp()
        scene = try AnalyticsScene(app)
        client = app.client()
    }

    private func names(_ query: String = "", path: String = "/v1/app-users") -> [String] {
        scene.get(path + query, client).all("user_id", in: "users")
    }

    private func publicID(of user: Int64) throws -> UUID {
        try #require(app.ids("SELECT public_id FROM app_users WHERE id = ?", user).first)
    }

    private func visit(_ user: Int64, _ app: UUID? = nil, at time: Timestamp? = nil) throws {
        let time = time ?? self.app.time.now
        try self.app.change(
            "INSERT INTO app_user_apps (app_user_id, app_id, first_seen_at, last_seen_at) VALUES (?, ?, ?, ?)", user,
            app ?? scene.appID, time - .seconds(60), time)
    }

    // MARK: Answers

    @Test func aUserIsShownWithAllMembers() throws {
        let (full, bare) = (
            try scene.insertUser("u"), try scene.insertUser("owl_anon_b", at: app.time.now - .seconds(1))
        )
        try app.change(
            """
            UPDATE app_users SET properties = '{"plan":"pro","a":"😀"}', first_seen_at = '2026-01-01',
                last_country_code = 'DE', last_app_version = 'av', last_sdk_name = 'sn', last_sdk_version = 'sv',
                last_locale = 'l', last_preferred_language = 'pl', total_revenue_usd_cents = 1999,
                revenue_synced_at = '2026-05-01 00:00:00.001'
            WHERE id = ?
            """, full)
        let (second, deleted) = (try scene.makeApp(), try scene.makeApp())
        try app.change("UPDATE apps SET name = 'Second' WHERE id = ?", second.id)
        try visit(full, at: app.time.now - .seconds(1))
        try visit(full, second.id)
        try visit(full, deleted.id)
        try app.change("UPDATE apps SET deleted_at = created_at WHERE id = ?", deleted.id)
        // Claimed in this order. Another user owns one of them now, and one is left as a tombstone.
        let other = try scene.insertUser("v", at: app.time.now - .seconds(2))
        try scene.insertUser("owl_anon_1", mergedInto: full)
        for (user, id, microsecond) in [
            (full, "owl_anon_2", 2), (full, "owl_anon_1", 1), (full, "owl_anon_3", 3), (other, "owl_anon_3", 4),
        ] {
            try app.change(
                """
                INSERT INTO identity_claims (project_id, anonymous_id, app_user_id, claimed_at)
                VALUES (?, ?, ?, '2026-05-12 06:00:00' + INTERVAL ? MICROSECOND)
                """, scene.project, id, user, microsecond)
        }
        let fullText = """
            {"id":"\(try publicID(of: full))","project_id":"\(scene.project)","user_id":"u","is_anonymous":false,\
            "claimed_from":["owl_anon_1","owl_anon_2","owl_anon_3"],"properties":{"plan":"pro","a":"😀"},\
            "apps":[{"app_id":"\(second.id)","app_name":"Second","first_seen_at":"2026-05-12T06:59:00.000Z",\
            "last_seen_at":"2026-05-12T07:00:00.000Z"},{"app_id":"\(scene.appID)","app_name":"App",\
            "first_seen_at":"2026-05-12T06:58:59.000Z","last_seen_at":"2026-05-12T06:59:59.000Z"}],\
            "first_seen_at":"2026-01-01T00:00:00.000Z","last_seen_at":"2026-05-12T07:00:00.000Z",\
            "last_country_code":"DE","last_app_version":"av","last_sdk_name":"sn","last_sdk_version":"sv",\
            "last_locale":"l","last_preferred_language":"pl","total_revenue_usd_cents":1999,\
            "revenue_synced_at":"2026-05-01T00:00:00.001Z","is_dev":false}
            """
        let bareText = """
            {"id":"\(try publicID(of: bare))","project_id":"\(scene.project)","user_id":"owl_anon_b",\
            "is_anonymous":true,"claimed_from":null,"properties":{},"apps":[],\
            "first_seen_at":"2026-05-12T06:59:59.000Z","last_seen_at":"2026-05-12T06:59:59.000Z",\
            "last_country_code":null,"last_app_version":null,"last_sdk_name":null,"last_sdk_version":null,\
            "last_locale":null,"last_preferred_language":null,"total_revenue_usd_cents":null,\
            "revenue_synced_at":null,"is_dev":false}
            """
        #expect(
            "\(scene.get("/v1/app-users?search=U", client))"
                == #"200 {"users":[\#(fullText)],"cursor":null,"has_more":false}"#)
        #expect(
            "\(scene.get("/v1/app-users/\(try publicID(of: full).description.uppercased())", client))"
                == "200 \(fullText)")
        #expect("\(scene.get("/v1/app-users/\(try publicID(of: bare))", client))" == "200 \(bareText)")
        #expect(
            scene.get("/v1/app-users?search=v", client).json["users"]?.array?.first?["claimed_from"] == ["owl_anon_3"])
    }

    // MARK: Filters

    @Test(
        arguments: [
            ("", "e c b a"), ("sort=first_seen", "a b c e"), ("sort=x", "e c b a"), ("search=A", "a"),
            ("search=", "e c b a"), ("search=%25", ""), ("search=_", ""), ("search=%C3%89", "e"),
            ("is_anonymous=true", ""), ("is_anonymous=false", "e c b a"), ("is_anonymous=x", "e c b a"),
            ("data_mode=development", "owl_anon_d"), ("data_mode=all", "e owl_anon_d c b a"),
            ("data_mode=all&is_anonymous=true", "owl_anon_d"), ("billing_status=paid", "b"),
            ("billing_status=trial", "c"), ("billing_status=free", "e a"), ("billing_status=paid,trial", "c b"),
            ("billing_status=free,,%20paid", "e b a"), ("billing_status=free,paid,trial", "e c b a"),
            ("billing_status=x", "e c b a"), ("billing_status=x,trial", "c"), ("billing_status=Paid", "e c b a"),
            ("since=2026-05-12T06:02:00Z", "e c b"), ("until=2026-05-12T06:02:00Z", "b a"), ("since=57m", "e c"),
            ("limit=1", "e"), ("app_id=APP", "c a"), ("app_id=APP&sort=first_seen&limit=1", "a"), ("app_id=x", ""),
            ("project_id=PROJECT", "e c b a"), ("project_id=x", ""), ("team_id=TEAM", "e c b a"), ("team_id=APP", ""),
            ("project_id=PROJECT&app_id=APP&team_id=TEAM", "c a"),
        ])
    func filters(query: String, expected: String) throws {
        let properties = [
            "a": #"{"rc_subscriber":"true ","rc_period_type":"Trial"}"#,
            "b": #"{"rc_subscriber":"true","rc_period_type":"normal"}"#,
            "c": #"{"rc_subscriber":"true","rc_period_type":"trial"}"#,
        ]
        for (minute, name) in ["a", "b", "c", "owl_anon_d", "e"].enumerated() {
            let time = app.time.now - .seconds(3600) + .seconds(60 * (minute + 1))
            let user = try scene.insertUser(name == "e" ? "é" : name, isDev: name == "owl_anon_d", at: time)
            try app.change(
                "UPDATE app_users SET properties = ?, first_seen_at = ? WHERE id = ?", properties[name],
                app.time.now - .seconds(10_000) - .seconds(60 * minute), user)
            if ["a", "c", "owl_anon_d"].contains(name) { try visit(user) }
        }
        let owner = try app.count("SELECT id FROM app_users WHERE user_id = 'a'")
        try scene.insertUser("owl_anon_a", mergedInto: Int64(owner))
        let query = query.replacing("APP", with: "\(scene.appID)").replacing("PROJECT", with: "\(scene.project)")
            .replacing("TEAM", with: "\(scene.team)")
        let names = names("?" + query).map { $0 == "é" ? "e" : $0 }
        #expect(names.joined(separator: " ") == expected)
    }

    @Test func badTimesAreNamed() {
        let text = #"Invalid time input: \"x\". Use relative (e.g. 1h, 30m, 7d) or ISO 8601 format."#
        for path in ["/v1/app-users?since=x", "/v1/app-users?until=x", "/v1/apps/\(scene.appID)/users?since=x"] {
            #expect("\(scene.get(path, client))" == refusal(400, text))
        }
    }

    @Test func aKeyNeedsThePermission() throws {
        let key = try scene.makeKey(.agent, permissions: [.eventsRead])
        for path in ["/v1/app-users", "/v1/app-users/x", "/v1/apps/x/users", "/v1/apps"] {
            #expect("\(scene.get(path, client, token: key))" == refusal(403, "Missing permission: apps:read"))
        }
    }

    // MARK: Pages

    @Test(arguments: ["last_seen", "first_seen"]) func pagesOfEqualTimesNeitherRepeatNorSkip(sort: String) throws {
        let other = try AnalyticsScene(app, team: scene.team)
        for number in 0..<30 { try (number % 3 == 0 ? other : scene).insertUser("\(number)") }
        for limit in [1, 7, 30] {
            var (seen, cursor, pages): ([String], String?, Int) = ([], "", 0)
            while let position = cursor {
                let answer = scene.get("/v1/app-users?sort=\(sort)&limit=\(limit)&cursor=\(position)", client)
                seen += answer.all("user_id", in: "users").filter { !$0.hasPrefix("new") }
                cursor = answer["cursor"]?.string
                #expect(answer["has_more"] == .bool(cursor != nil))
                pages += 1
                if pages % 4 == 0 { try scene.insertUser("new \(limit) \(pages)") }
            }
            #expect(seen.count == 30)
            #expect(Set(seen) == Set((0..<30).map { "\($0)" }))
            try app.change("DELETE FROM app_users WHERE user_id LIKE 'new%'")
        }
    }

    // MARK: Scope

    @Test func usersOfAnApp() throws {
        let path = "/v1/apps/\(scene.appID)/users"
        for (name, second) in [("a", 1), ("b", 2), ("c", 3)] {
            let user = try scene.insertUser(name, at: app.time.now - .seconds(10 - second))
            if name != "b" { try visit(user) }
        }
        #expect(names(path: path) == ["c", "a"])
        #expect(names("?search=a&limit=1", path: path) == ["a"])
        let another = try scene.makeApp().id
        #expect(names("?app_id=\(another)", path: path) == [])
        #expect(names("?app_id=\(scene.appID)&project_id=\(scene.project)", path: path) == ["c", "a"])
        #expect(names("?project_id=\(scene.team)", path: path) == [])
        let first = scene.get(path + "?limit=1", client)
        #expect(names("?limit=1&cursor=\(first["cursor"]?.string ?? "")", path: path) == ["a"])
        let stranger = try AnalyticsScene(app)
        let deleted = try scene.makeApp()
        try app.change("UPDATE apps SET deleted_at = created_at WHERE id = ?", deleted.id)
        for id in ["\(stranger.appID)", "\(deleted.id)", "x", "00000000-0000-4000-8000-000000000000"] {
            #expect("\(scene.get("/v1/apps/\(id)/users", client))" == refusal(404, "App not found"))
        }
    }

    @Test func onlyUsersOfTheTeamsLiveProjectsAreSeen() throws {
        let (stranger, gone) = (try AnalyticsScene(app), try AnalyticsScene(app, team: scene.team))
        let seen = try scene.insertUser("seen")
        let hidden = [
            try stranger.insertUser("stranger's"), try gone.insertUser("of a deleted project"),
            try scene.insertUser("owl_anon_a", mergedInto: seen),
        ]
        try app.change("UPDATE projects SET deleted_at = created_at WHERE id = ?", gone.project)
        #expect(names("?data_mode=all") == ["seen"])
        for query in ["team_id=\(stranger.team)", "project_id=\(stranger.project)", "app_id=\(stranger.appID)"] {
            #expect(names("?" + query) == [])
        }
        #expect(scene.get("/v1/app-users/\(try publicID(of: seen))", client).status == 200)
        for id in try hidden.map(publicID) + ["x", "00000000-0000-4000-8000-000000000000"] {
            #expect("\(scene.get("/v1/app-users/\(id)", client))" == refusal(404, "User not found"))
        }
    }

    /// Users of a deleted app still belong to its project.
    @Test func usersOfADeletedAppStay() throws {
        try visit(try scene.insertUser("u"))
        try app.change("UPDATE apps SET deleted_at = created_at")
        #expect(names() == ["u"])
        #expect(names("?app_id=\(scene.appID)") == [])
    }
}
