import Analytics
import JSON
import TestSupport
import Testing
import Time

/// Feedback of analytics §13.3 over the wire.
@Suite struct FeedbackReadTests {
    let app: TestApp
    let scene: AnalyticsScene
    let client: Client

    init() throws {
        app = try TestApp()
        scene = try AnalyticsScene(app)
        client = app.client()
    }

    private func messages(_ query: String = "", path: String = "/v1/feedback") -> [String] {
        scene.get(path + query, client).all("message", in: "feedback")
    }

    @Test func feedbackIsShownWithAllMembers() throws {
        let owner = try scene.insertUser("u")
        try app.change(#"UPDATE app_users SET properties = '{"plan":"pro"}'"#)
        let tombstone = try scene.insertUser("owl_anon_a", mergedInto: owner)
        let full = try scene.insertFeedback("full", of: tombstone, at: app.time.now - .seconds(1))
        let plain = try scene.insertFeedback("plain", of: scene.insertUser("v"), at: app.time.now - .seconds(2))
        let bare = try scene.insertFeedback("bare", at: app.time.now - .seconds(3))
        try app.change(
            """
            UPDATE feedback SET session_id = x'0000000000004000800000000000000A', submitter_name = 'n',
                submitter_email = 'e@e.e', status = 'seen', environment = 'ios', os_version = 'o', app_version = 'av',
                sdk_name = 'sn', sdk_version = 'sv', device_model = 'dm', country_code = 'DE'
            WHERE id = ?
            """, full)
        let places = #""app_name":"App","project_name":"Project""#
        let ids = #""app_id":"\#(scene.appID)","project_id":"\#(scene.project)""#
        let nothing = """
            "submitter_name":null,"submitter_email":null,"status":"new","is_dev":false,"environment":null,\
            "os_version":null,"app_version":null,"sdk_name":null,"sdk_version":null,"device_model":null,\
            "country_code":null
            """
        let text = """
            {"id":"\(full)",\(ids),"session_id":"00000000-0000-4000-8000-00000000000a","user_id":"u","message":"full",\
            "submitter_name":"n","submitter_email":"e@e.e","status":"seen","is_dev":false,"environment":"ios",\
            "os_version":"o","app_version":"av","sdk_name":"sn","sdk_version":"sv","device_model":"dm",\
            "country_code":"DE","created_at":"2026-05-12T06:59:59.000Z","updated_at":"2026-05-12T07:00:00.000Z",\
            \(places),"user_properties":{"plan":"pro"}},\
            {"id":"\(plain)",\(ids),"session_id":null,"user_id":"v","message":"plain",\(nothing),\
            "created_at":"2026-05-12T06:59:58.000Z","updated_at":"2026-05-12T07:00:00.000Z",\(places),\
            "user_properties":{}},\
            {"id":"\(bare)",\(ids),"session_id":null,"user_id":null,"message":"bare",\(nothing),\
            "created_at":"2026-05-12T06:59:57.000Z","updated_at":"2026-05-12T07:00:00.000Z",\(places),\
            "user_properties":null}
            """
        for path in ["/v1/feedback", "/v1/projects/\(scene.project)/feedback"] {
            #expect(
                "\(scene.get(path, client))" == #"200 {"feedback":[\#(text)],"cursor":null,"has_more":false}"#)
        }
    }

    @Test(
        arguments: [
            ("", "c b a"), ("status=new", "c a"), ("status=seen", "b"), ("status=x", ""), ("is_dev=true", "d"),
            ("is_dev=false", "c b a"), ("is_dev=x", "c b a"), ("data_mode=development", "d"),
            ("data_mode=all", "d c b a"), ("data_mode=all&is_dev=true", "d"), ("data_mode=production&is_dev=true", ""),
            ("data_mode=x&is_dev=true", "d"), ("limit=2", "c b"), ("app_id=OTHER", "c"), ("app_id=x", ""),
            ("project_id=PROJECT", "c b a"), ("project_id=x", ""), ("team_id=TEAM", "c b a"), ("team_id=OTHER", ""),
            ("cursor=x", "c b a"), ("status=", "c b a"), ("status=new%00", ""), ("status=n%C3%A9w", ""),
        ])
    func filters(query: String, expected: String) throws {
        let other = try scene.makeApp()
        for (second, message) in ["a", "b", "c", "d"].enumerated() {
            try scene.insertFeedback(
                message, at: app.time.now + .seconds(second), app: message == "c" ? other.id : nil,
                status: message == "b" ? "seen" : "new", isDev: message == "d")
        }
        try scene.insertFeedback("deleted")
        try app.change("UPDATE feedback SET deleted_at = created_at WHERE message = 'deleted'")
        let query = query.replacing("OTHER", with: "\(other.id)").replacing("PROJECT", with: "\(scene.project)")
            .replacing("TEAM", with: "\(scene.team)")
        for path in ["/v1/feedback", "/v1/projects/\(scene.project)/feedback"] {
            #expect(messages("?" + query, path: path).joined(separator: " ") == expected)
        }
    }

    @Test func pagesOfEqualTimesNeitherRepeatNorSkip() throws {
        let other = try AnalyticsScene(app, team: scene.team)
        for number in 0..<30 { try (number % 3 == 0 ? other : scene).insertFeedback("\(number)") }
        for limit in [1, 7, 30] {
            var (seen, cursor, pages): ([String], String?, Int) = ([], "", 0)
            while let position = cursor {
                let answer = scene.get("/v1/feedback?limit=\(limit)&cursor=\(position)", client)
                seen += answer.all("message", in: "feedback").filter { $0 != "new" }
                cursor = answer["cursor"]?.string
                #expect(answer["has_more"] == .bool(cursor != nil))
                pages += 1
                if pages % 4 == 0 { try scene.insertFeedback("new") }
            }
            #expect(seen.count == 30)
            #expect(Set(seen) == Set((0..<30).map { "\($0)" }))
            try app.change("DELETE FROM feedback WHERE message = 'new'")
        }
    }

    @Test func onlyLiveAppsOfTheKeysTeamAreSeen() throws {
        let (stranger, gone) = (try AnalyticsScene(app), try AnalyticsScene(app, team: scene.team))
        let deleted = try scene.makeApp()
        try stranger.insertFeedback("stranger's")
        try gone.insertFeedback("of a deleted project")
        try scene.insertFeedback("of a deleted app", app: deleted.id)
        try scene.insertFeedback("seen")
        try app.change("UPDATE apps SET deleted_at = created_at WHERE id = ?", deleted.id)
        try app.change("UPDATE projects SET deleted_at = created_at WHERE id = ?", gone.project)
        #expect(messages() == ["seen"])
        for query in ["team_id=\(stranger.team)", "project_id=\(stranger.project)", "app_id=\(deleted.id)"] {
            #expect(messages("?" + query) == [])
        }
        #expect(messages("?project_id=\(scene.team)", path: "/v1/projects/\(scene.project)/feedback") == [])
        for id in ["\(stranger.project)", "\(gone.project)", "x", "00000000-0000-4000-8000-000000000000"] {
            #expect("\(scene.get("/v1/projects/\(id)/feedback", client))" == refusal(404, "Project not found"))
        }
    }

    @Test func feedbackNeedsItsPermission() throws {
        let key = try scene.makeKey(.agent, permissions: [.eventsRead])
        for path in ["/v1/feedback", "/v1/projects/x/feedback"] {
            #expect("\(scene.get(path, client, token: key))" == refusal(403, "Missing permission: feedback:read"))
        }
    }
}
