import HTTP
import JSON
import TestSupport
import Testing
import Time

/// Analytics §2.1: an empty query value means that the parameter is absent, in every list and filter.
@Suite struct EmptyFilterTests {
    let app: TestApp
    let scene: AnalyticsScene
    let client: Client

    init() throws {
        app = try TestApp()
        scene = try AnalyticsScene(app)
        client = app.client()
        let user = try scene.insertUser("u")
        try scene.insertUser("owl_anon_a")
        try app.change(
            """
            INSERT INTO app_user_apps (app_user_id, app_id, first_seen_at, last_seen_at)
            SELECT id, ?, NOW(), NOW() FROM app_users
            """, scene.appID)
        try scene.insertEvent("one", of: user, screen: "s")
        try scene.insertEvent("two", at: app.time.now - .seconds(60), level: "error")
        try scene.insertFeedback("one", of: user)
        try scene.insertFeedback("two", at: app.time.now - .seconds(60), status: "closed")
        _ = try scene.reserve(client, [1])
        _ = try scene.reserve(client, [2, 2], ["client_event_id": .string(uuid(2)), "user_id": nil])
        try scene.makeQuestionnaire()
    }

    private typealias Values = [(name: String, value: String)]

    /// For each path, its parameters, and for each parameter a value that changes the answer.
    private var parameters: [(path: String, values: Values)] {
        let scope: Values = [("team_id", "x"), ("project_id", "x"), ("app_id", "x")]
        let limit: Values = [("limit", "1")]
        let events: Values = [
            ("level", "debug"), ("user_id", "u"), ("session_id", "x"), ("environment", "web"), ("screen_name", "s"),
            ("since", "30s"), ("until", "30s"), ("data_mode", "development"),
        ]
        let users: Values = [
            ("search", "owl"), ("is_anonymous", "false"), ("billing_status", "paid"), ("data_mode", "development"),
            ("since", "2099-01-01"), ("until", "2001-01-01"),
        ]
        let feedback: Values = [("status", "closed"), ("is_dev", "true"), ("data_mode", "development")]
        let attachments: Values = [
            ("event_id", "x"), ("event_client_id", uuid(2)), ("issue_id", "x"), ("project_id", "x"),
        ]
        return [
            ("/v1/events", scope + events + limit + [("order", "asc")]), ("/v1/events/count", scope + events),
            ("/v1/app-users", scope + users + limit), ("/v1/apps/\(scene.appID)/users", users),
            ("/v1/apps", [("team_id", "x")]), ("/v1/projects", [("team_id", "x")]),
            ("/v1/feedback", scope + feedback + limit),
            ("/v1/projects/\(scene.project)/feedback", feedback + limit), ("/v1/attachments", attachments + limit),
            ("/v1/projects/\(scene.project)/attachment-usage", [("user_id", "u")]),
        ]
    }

    private func answer(_ path: String, _ query: String) -> String { "\(scene.get("\(path)?\(query)", client))" }

    @Test func anEmptyValueIsNone() {
        for (path, values) in parameters {
            let whole = answer(path, "")
            #expect(whole.hasPrefix("200 "))
            for (name, value) in values {
                #expect(answer(path, "\(name)=\(value)") != whole, "\(path) \(name)")
                for empty in ["\(name)=", name, "\(name)=&\(name)=", "&\(name)&"] {
                    #expect(answer(path, empty) == whole, "\(path)?\(empty)")
                }
            }
            let all = values.map { "\($0.name)=" }.joined(separator: "&")
            #expect(answer(path, all) == whole, "\(path)?\(all)")
        }
    }

    /// The first value that is not empty counts.
    @Test func anEmptyValueHidesNoOther() {
        for (path, values) in parameters {
            for (name, value) in values {
                let filtered = answer(path, "\(name)=\(value)")
                #expect(answer(path, "\(name)=&\(name)&\(name)=\(value)") == filtered, "\(path) \(name)")
                #expect(answer(path, "\(name)=\(value)&\(name)=") == filtered, "\(path) \(name)")
            }
        }
    }

    @Test func whiteSpaceIsAValue() {
        #expect(scene.get("/v1/events?user_id=%20", client)["events"] == [])
        #expect(scene.get("/v1/events?user_id=+", client)["events"] == [])
        #expect(scene.get("/v1/events?app_id=%20", client)["events"] == [])
        #expect(
            "\(scene.get("/v1/events?since=%20", client))".hasPrefix(#"400 {"error":"Invalid time input: \" \"."#))
        #expect(scene.get("/v1/projects/\(scene.project)/attachment-usage?user_id=%20", client)["user_id"] == " ")
    }

    @Test func questionnairesKnowTheirsToo() throws {
        func answer(_ query: String) -> String {
            "\(client.send(scene.show("survey", query)))"
        }
        #expect(client.send(scene.dismiss(["user_id": "u"])).status == 200)
        let (offered, dismissed) = (answer(""), answer("&user_id=u"))
        #expect(offered != dismissed)
        #expect(answer("&user_id=") == offered && answer("&user_id") == offered)
        #expect(answer("&user_id=&user_id=u") == dismissed)
        #expect(answer("&user_id=u&force=") == dismissed)
        #expect(answer("&user_id=u&force=true") == offered)
        // An app with a bundle id requires it. Here it is absent or wrong.
        for query in ["bundle_id=", "bundle_id", "", "bundle_id=&bundle_id=com.other"] {
            let answer = client.send(.get, "/v1/questionnaires/survey?\(query)", token: scene.clientKey)
            #expect("\(answer)" == refusal(403, "bundle_id does not match the app"))
        }
    }

    @Test func aLinkWithoutATokenIsABadLink() {
        for path in ["/v1/attachments/download", "/v1/attachments/download?t=", "/v1/attachments/download?t"] {
            #expect("\(client.send(.get, path))" == refusal(401, "Invalid or expired download link"))
        }
    }
}
