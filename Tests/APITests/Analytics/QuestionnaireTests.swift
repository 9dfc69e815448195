import Analytics
import HTTP
import JSON
import TestSupport
import Testing
import Time

/// Analytics §12 over the wire: who may ask, which questionnaires are offered to whom, and dismissals.
@Suite struct QuestionnaireTests {
    let app: TestApp
    let scene: AnalyticsScene
    let client: Client

    init() throws {
        app = try TestApp()
        scene = try AnalyticsScene(app)
        client = app.client()
    }

    /// The three routes. Everything is valid except the credential and the bundle.
    private func requests(token: String? = nil) -> [RepeatableRequest] {
        [
            scene.show(token: token), scene.dismiss(["user_id": "u"], token: token),
            scene.respond(["words": "w"], token: token),
        ]
    }

    private func expectAll(
        _ status: Int, _ text: String, token: String? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for request in requests(token: token) {
            #expect(client.send(request).description == refusal(status, text), sourceLocation: sourceLocation)
        }
    }

    @Test func onlyClientsOfLiveAppsAsk() throws {
        try scene.makeQuestionnaire()
        expectAll(
            403, "Missing permission: events:write", token: try scene.makeKey(.client, permissions: [.usersWrite]))
        expectAll(403, "Client key required", token: scene.importKey)
        expectAll(403, "Client key required", token: try scene.makeKey(.agent, permissions: [.eventsWrite]))
        try app.change("UPDATE apps SET deleted_at = created_at")
        expectAll(403, "Client key required", token: scene.importKey)
        expectAll(400, "App associated with this API key no longer exists")
        try app.change("UPDATE apps SET deleted_at = NULL")
        try app.change("UPDATE projects SET deleted_at = created_at")
        expectAll(400, "App associated with this API key no longer exists")
        #expect(try scene.records().isEmpty && scene.responses().isEmpty)
    }

    @Test(arguments: ["com.other", "com.example ", "", nil])
    func theBundleIsTheApps(bundleID: String?) throws {
        try scene.makeQuestionnaire()
        let bundle = bundleID.map { JSONValue.string($0) } ?? .null
        var requests = [
            scene.dismiss(["bundle_id": bundle, "user_id": "u"]), scene.respond(["words": "w"], ["bundle_id": bundle]),
        ]
        let query = bundleID.map { "?bundle_id=\($0.replacing(" ", with: "+"))" } ?? ""
        requests.append(
            RepeatableRequest(method: .get, path: "/v1/questionnaires/survey\(query)", token: scene.clientKey))
        for request in requests {
            #expect(client.send(request).description == refusal(403, "bundle_id does not match the app"))
        }
        // This check precedes those of the questionnaire and the user.
        #expect(client.send(scene.dismiss(["bundle_id": bundle])).status == 403)
        #expect(client.send(scene.respond(nil, ["bundle_id": bundle], to: "none")).status == 403)
    }

    @Test func anAppWithoutABundleNeedsNone() throws {
        try scene.makeQuestionnaire()
        let web = try scene.makeApp(platform: .web)
        for request in requests(token: web.clientKey) {
            var request = request
            request.path = request.path.replacing("?bundle_id=com.example", with: "")
            request.body = request.body?.adding(["bundle_id": .null])
            #expect([200, 201].contains(client.send(request).status))
        }
    }

    @Test func aUserIsNamedWithinLimits() throws {
        try scene.makeQuestionnaire()
        let long = String(repeating: "😀", count: 128)
        let escaped = String(repeating: "%F0%9F%98%80", count: 128)
        for request in [
            scene.show("survey", "&user_id=\(escaped)"), scene.dismiss(["user_id": .string(long)]),
            scene.respond([:], ["user_id": .string(long)]),
        ] {
            #expect(client.send(request).description == refusal(400, "user_id exceeds max length of 255"))
        }
        for request in [scene.dismiss(["user_id": "a\0"]), scene.respond([:], ["user_id": "a\0"])] {
            #expect(client.send(request).description == refusal(400, "user_id must not contain NUL characters"))
        }
        let longest = JSONValue.string(String(long.dropLast()) + "u")
        #expect(client.send(scene.dismiss(["user_id": longest])).status == 200)
        #expect(client.send(scene.respond([:], ["user_id": longest])).status == 201)
    }

    // MARK: Which

    @Test func onlyLiveDefinitionsOfTheProjectThatMayBeAskedHereAreFound() throws {
        let other = try AnalyticsScene(app, team: scene.team)
        let pinned = try scene.makeApp(bundleID: "com.example")
        try other.makeQuestionnaire("elsewhere")
        try scene.makeQuestionnaire("deleted")
        try app.change("UPDATE questionnaires SET deleted_at = created_at WHERE slug = 'deleted'")
        try scene.makeQuestionnaire("pinned", pinnedTo: pinned.id)
        try scene.makeQuestionnaire("survey")
        for slug in ["elsewhere", "deleted", "pinned", "unknown", "Survey", "survey ", "s%C3%BCrvey", "ſurvey", "é"] {
            #expect(client.send(scene.show(slug)).description == refusal(404, "Questionnaire not found"))
            #expect(client.send(scene.respond([:], to: slug)).description == refusal(404, "Questionnaire not found"))
        }
        #expect(client.send(scene.show("survey")).status == 200)
        #expect(client.send(scene.show("pinned", token: pinned.clientKey)).status == 200)
        #expect(client.send(scene.respond([:], to: "pinned", token: pinned.clientKey)).status == 201)
    }

    @Test func aDeletedSlugMayBeDefinedAgain() throws {
        try scene.makeQuestionnaire()
        try app.change("UPDATE questionnaires SET deleted_at = created_at")
        let id = try scene.makeQuestionnaire()
        #expect(client.send(scene.show())["questionnaire"]?["id"] == .string("\(id)"))
    }

    @Test func theDefinitionIsShown() throws {
        let id = try scene.makeQuestionnaire()
        let definition: JSONValue = [
            "id": .string("\(id)"), "slug": "survey", "name": "Survey", "description": .null,
            "schema": AnalyticsScene.schema,
        ]
        #expect(client.send(scene.show()).json == ["eligible": true, "questionnaire": definition])
        try app.change("UPDATE questionnaires SET description = 'Why you left'")
        #expect(
            client.send(scene.show("survey", "&user_id=u")).json
                == ["eligible": true, "questionnaire": definition.adding(["description": "Why you left"])])
        #expect(try scene.records().isEmpty)
    }

    // MARK: To whom

    private func reason(_ query: String = "&user_id=u") -> String {
        let answer = client.send(scene.show("survey", query))
        #expect(answer.status == 200)
        guard answer["eligible"] == false else { return "eligible" }
        #expect(answer.json == ["eligible": false, "reason": answer["reason"] ?? .null])
        return answer["reason"]?.string ?? ""
    }

    @Test func reasonsComeInTheirOrder() throws {
        try scene.makeQuestionnaire()
        #expect(reason() == "eligible")
        #expect(client.send(scene.respond(["words": "w"], ["user_id": "u", "is_complete": true])).status == 201)
        #expect(reason() == "already_responded")
        #expect(client.send(scene.dismiss(["user_id": "u"])).status == 200)
        #expect(reason() == "globally_dismissed")
        #expect(reason("&user_id=u&force=true") == "eligible")
        #expect(client.send(scene.show("survey", "&user_id=u&force=true"))["in_progress"] == nil)
        for force in ["TRUE", "1", "", "yes"] { #expect(reason("&user_id=u&force=\(force)") == "globally_dismissed") }
        // No other user is affected.
        for query in ["", "&user_id=", "&user_id=U", "&user_id=u+"] { #expect(reason(query) == "eligible") }
        try app.change("UPDATE questionnaires SET is_active = FALSE")
        #expect(reason() == "inactive")
        #expect(reason("&user_id=u&force=true") == "inactive")
        #expect(reason("") == "inactive")
    }

    @Test func aDeletedResponseIsNone() throws {
        try scene.makeQuestionnaire()
        #expect(client.send(scene.respond(["words": "w"], ["user_id": "u", "is_complete": true])).status == 201)
        try app.change("UPDATE questionnaire_responses SET deleted_at = created_at")
        #expect(reason() == "eligible")
        #expect(client.send(scene.respond(["words": "x"], ["user_id": "u", "is_complete": true])).status == 201)
        #expect(reason() == "already_responded")
    }

    @Test func aDraftIsShown() throws {
        try scene.makeQuestionnaire()
        let draft = client.send(scene.respond(["words": "w", "some": ["b"]], ["user_id": "owl_anon_a"]))
        let answer = client.send(scene.show("survey", "&user_id=owl_anon_a"))
        #expect(
            answer["in_progress"] == ["response_id": draft["id"] ?? .null, "answers": ["words": "w", "some": ["b"]]])
        #expect(client.send(scene.show("survey", "&user_id=u"))["in_progress"] == nil)
        // After the claim, it is shown under both ids.
        #expect(client.send(scene.claim("owl_anon_a", "u")).status == 200)
        for user in ["owl_anon_a", "u"] {
            #expect(
                client.send(scene.show("survey", "&user_id=\(user)"))["in_progress"]?["response_id"] == draft["id"])
        }
    }

    @Test func showingWritesNothing() throws {
        try scene.makeQuestionnaire()
        _ = client.send(scene.show())
        try app.expectUnchanged {
            for user in ["u", "owl_anon_a", ""] { #expect(reason("&user_id=\(user)") == "eligible") }
        }
    }

    // MARK: Dismissing

    @Test func dismissingWinsOverASlug() throws {
        try scene.makeQuestionnaire("dismiss")
        let answer = client.send(scene.show("dismiss"))
        #expect(answer.status == 405)
        #expect(answer.header("Allow") == "POST")
        #expect(client.send(scene.dismiss(["user_id": "u"]))["dismissed_at"] != nil)
    }

    @Test func dismissingNeedsAUser() throws {
        for user in [nil, .null, "", 5, ["u"]] as [JSONValue?] {
            #expect(
                client.send(scene.dismiss(["user_id": user])).description
                    == refusal(400, "user_id is required to dismiss questionnaires"))
        }
        #expect(try scene.records().isEmpty)
    }

    @Test func dismissingMakesARecordAndIsNeverRefusedForTheCap() throws {
        let now = JSONValue.string(app.time.now.iso8601Milliseconds)
        #expect(client.send(scene.dismiss(["user_id": "u", "is_dev": true])).json == ["dismissed_at": now])
        #expect(client.send(scene.properties("u", [:]))["properties"] == ["_questionnaires_dismissed_at": now])
        #expect(
            try app.column("SELECT CONCAT_WS(' ', is_dev, first_seen_at = last_seen_at) FROM app_users") == ["0 1"])
        #expect(try app.count("SELECT COUNT(*) FROM app_user_apps") == 0)

        let full = JSONValue.object(JSONObject((1...50).map { ("k\($0)", "v") }))
        #expect(client.send(scene.properties("v", full)).status == 200)
        app.time.advance(by: .milliseconds(1))
        let later = JSONValue.string(app.time.now.iso8601Milliseconds)
        #expect(client.send(scene.dismiss(["user_id": "v"])).json == ["dismissed_at": later])
        #expect(
            client.send(scene.properties("v", [:]))["properties"]
                == full.adding(["_questionnaires_dismissed_at": later]))
        #expect(client.send(scene.dismiss(["user_id": "u"])).json == ["dismissed_at": later])
    }

    @Test func clearingThePropertyTakesItBack() throws {
        try scene.makeQuestionnaire()
        #expect(client.send(scene.dismiss(["user_id": "u"])).status == 200)
        #expect(reason() == "globally_dismissed")
        #expect(client.send(scene.properties("u", ["_questionnaires_dismissed_at": ""])).status == 200)
        #expect(reason() == "eligible")
        #expect(client.send(scene.properties("u", ["_questionnaires_dismissed_at": "x"])).status == 200)
        #expect(reason() == "globally_dismissed")
    }

    @Test func aDismissalFollowsAClaim() throws {
        try scene.makeQuestionnaire()
        #expect(client.send(scene.dismiss(["user_id": "owl_anon_a"])).status == 200)
        #expect(client.send(scene.properties("u", ["plan": "pro"])).status == 200)
        #expect(client.send(scene.claim("owl_anon_a", "u")).status == 200)
        #expect(reason() == "globally_dismissed")
        #expect(client.send(scene.claim("owl_anon_b", "v")).status == 200)
        #expect(client.send(scene.dismiss(["user_id": "owl_anon_b"])).status == 200)
        #expect(reason("&user_id=v") == "globally_dismissed")
        #expect(try scene.records() == ["owl_anon_a -> u", "u", "v"])
    }

    @Test func aDismissalThatCannotBeWrittenLeavesNothing() throws {
        var number = 0
        let scene = scene
        let injection = FailureInjection(app: app) { client in
            number += 1
            scene.useKey(client)
            return scene.dismiss(["user_id": .string("u\(number)")])
        }
        try injection.run(expecting: ["app_users INSERT", "app_users UPDATE"])
    }
}
