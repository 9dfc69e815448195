import Analytics
import Foundation
import JSON
import TestSupport
import Testing
import Time

/// Analytics §12 over the wire: saving and completing answers.
@Suite struct QuestionnaireResponseTests {
    let app: TestApp
    let scene: AnalyticsScene
    let client: Client

    init() throws {
        app = try TestApp()
        scene = try AnalyticsScene(app)
        client = app.client()
    }

    @Test func checksComeInTheirOrder() throws {
        var request = scene.respond(
            ["other": 1], ["user_id": "u", "session_id": "1", "is_complete": true, "environment": "windows"])
        func expect(_ status: Int, _ body: String, _ fix: () throws -> Void) throws {
            #expect(client.send(request).description == "\(status) \(body)")
            try fix()
        }
        func set(_ name: String, _ value: JSONValue) { request.body = request.body?.adding([name: value]) }
        try expect(404, #"{"error":"Questionnaire not found"}"#) {
            try scene.makeQuestionnaire(isActive: false)
            #expect(client.send(scene.dismiss(["user_id": "u"])).status == 200)
        }
        try expect(409, #"{"error":"Questionnaire is not accepting responses","reason":"inactive"}"#) {
            try app.change("UPDATE questionnaires SET is_active = TRUE")
        }
        try expect(400, #"{"error":"session_id must be a UUID"}"#) { set("session_id", .string(uuid(1))) }
        try expect(409, #"{"error":"Questionnaires globally dismissed","reason":"globally_dismissed"}"#) {
            #expect(client.send(scene.properties("u", ["_questionnaires_dismissed_at": ""])).status == 200)
            #expect(client.send(scene.respond(["words": "w"], ["user_id": "u", "is_complete": true])).status == 201)
        }
        try expect(409, #"{"error":"Already responded","reason":"already_responded"}"#) {
            try app.change("UPDATE questionnaire_responses SET deleted_at = created_at")
        }
        try expect(400, #"{"error":"unknown question id \"other\""}"#) { set("answers", .null) }
        try expect(400, #"{"error":"answers must be an object"}"#) { set("answers", ["stars": 0]) }
        try expect(400, #"{"error":"\"stars\" must be an integer 1-5"}"#) { set("answers", ["stars": 1]) }
        try expect(400, #"{"error":"\"words\" is required"}"#) { set("answers", ["words": "x"]) }
        let allowed = "allowed: ios, ipados, macos, watchos"
        try expect(400, #"{"error":"environment \"windows\" is not allowed for apple apps (\#(allowed))"}"#) {
            set("environment", "watchos")
        }
        #expect(try scene.responses() == [#"u survey new {"words":"w"} deleted"#])
        #expect(client.send(request).status == 201)
    }

    @Test(arguments: [7, true, [], [:], "", " "] as [JSONValue])
    func aSessionIsAUUIDOrNull(value: JSONValue) throws {
        try scene.makeQuestionnaire()
        #expect(
            client.send(scene.respond([:], ["session_id": value])).description
                == refusal(400, "session_id must be a UUID"))
        #expect(client.send(scene.respond([:], ["session_id": .null])).status == 201)
    }

    @Test(
        arguments: [
            ("os_version", 50), ("app_version", 50), ("sdk_name", 50), ("sdk_version", 50), ("device_model", 100),
        ])
    func noFieldHoldsANUL(field: String, length: Int) throws {
        try scene.makeQuestionnaire()
        #expect(
            client.send(scene.respond([:], [field: "a\0"])).description
                == refusal(400, "\(field) must not contain NUL characters"))
        #expect(
            client.send(scene.respond(["words": "a\0"], ["user_id": "u"])).description
                == refusal(400, "answers must not contain NUL characters"))
        #expect(try scene.responses().isEmpty && scene.records().isEmpty)
        let long = JSONValue.string(String(repeating: "x", count: length) + "\0")
        #expect(client.send(scene.respond([:], [field: long])).status == 201)
    }

    @Test func savesAreMergedAndCompletedOnce() throws {
        try scene.makeQuestionnaire()
        let created = JSONValue.string(app.time.now.iso8601Milliseconds)
        let first = client.send(scene.respond(["words": "w", "stars": 1], ["user_id": "u"]))
        #expect(first.status == 201)
        #expect(first.json == ["id": first["id"] ?? .null, "created_at": created, "was_submitted": false])
        #expect(try scene.responses() == [#"u survey draft {"words":"w","stars":1}"#])
        #expect(
            try app.column("SELECT COALESCE(schema_snapshot, submitted_at, 'neither') FROM questionnaire_responses")
                == ["neither"])

        app.time.advance(by: .seconds(1))
        let second = client.send(
            scene.respond(["words": " ", "stars": 2, "some": [], "nps": 0], ["user_id": "u", "is_complete": "true"]))
        #expect(second.status == 200)
        #expect(second.json == first.json)
        #expect(try scene.responses() == [#"u survey draft {"words":"w","stars":2,"nps":0}"#])

        app.time.advance(by: .seconds(1))
        let third = client.send(scene.respond(["one": "b"], ["user_id": "u", "is_complete": true]))
        #expect(third.status == 200)
        #expect(third.json == ["id": first["id"] ?? .null, "created_at": created, "was_submitted": true])
        #expect(try scene.responses() == [#"u survey new {"words":"w","one":"b","stars":2,"nps":0}"#])
        let row = try app.rows(
            """
            SELECT submitted_at = updated_at, TIMESTAMPDIFF(SECOND, created_at, submitted_at), schema_snapshot
            FROM questionnaire_responses
            """)
        #expect(row == ["1 2 \(String(decoding: AnalyticsScene.schema.json(), as: UTF8.self))"])

        for isComplete in [true, false] {
            #expect(
                client.send(scene.respond(["words": "x"], ["user_id": "u", "is_complete": .bool(isComplete)]))
                    .description == #"409 {"error":"Already responded","reason":"already_responded"}"#)
        }
        #expect(try app.count("SELECT COUNT(*) FROM questionnaire_responses") == 1)
    }

    @Test func aResponseMayBeCompletedAtOnce() throws {
        try scene.makeQuestionnaire()
        let answer = client.send(scene.respond(["words": "w"], ["user_id": "u", "is_complete": true]))
        #expect(answer.status == 201)
        #expect(answer["was_submitted"] == true)
    }

    @Test func aRefusedCompletionLeavesTheDraft() throws {
        try scene.makeQuestionnaire()
        #expect(client.send(scene.respond(["stars": 3], ["user_id": "u"])).status == 201)
        try app.expectUnchanged {
            #expect(
                client.send(scene.respond(["nps": 5], ["user_id": "u", "is_complete": true])).description
                    == #"400 {"error":"\"words\" is required"}"#)
            #expect(client.send(scene.respond(["nps": 11, "stars": 1], ["user_id": "u"])).status == 400)
        }
    }

    @Test func completingDropsWhatTheSchemaAsksNoMore() throws {
        try scene.makeQuestionnaire()
        #expect(client.send(scene.respond(["words": "w", "nps": 5, "stars": 2], ["user_id": "u"])).status == 201)
        let schema: JSONValue = [
            "version": 1,
            "questions": [
                ["id": "stars", "type": "rating", "title": "T", "required": true, "scale": 5],
                ["id": "new", "type": "text", "title": "T", "required": false],
            ],
        ]
        let text = String(decoding: schema.json(), as: UTF8.self)
        try app.change("UPDATE questionnaires SET `schema` = ?", text)
        #expect(
            client.send(scene.respond(["words": "w"], ["user_id": "u"])).description
                == #"400 {"error":"unknown question id \"words\""}"#)
        #expect(client.send(scene.respond(["new": "n"], ["user_id": "u"])).status == 200)
        #expect(try scene.responses() == [#"u survey draft {"words":"w","nps":5,"stars":2,"new":"n"}"#])
        #expect(client.send(scene.respond([:], ["user_id": "u", "is_complete": true])).status == 200)
        #expect(try scene.responses() == [#"u survey new {"stars":2,"new":"n"}"#])
        #expect(try app.column("SELECT schema_snapshot FROM questionnaire_responses") == [text])
    }

    @Test func dismissingStopsCompletionsNotDrafts() throws {
        try scene.makeQuestionnaire()
        #expect(client.send(scene.dismiss(["user_id": "u"])).status == 200)
        #expect(client.send(scene.respond(["words": "w"], ["user_id": "u"])).status == 201)
        #expect(client.send(scene.respond(["words": "x"], ["user_id": "u"])).status == 200)
        #expect(
            client.send(scene.respond(["words": "y"], ["user_id": "u", "is_complete": true])).description
                == #"409 {"error":"Questionnaires globally dismissed","reason":"globally_dismissed"}"#)
        #expect(try scene.responses() == [#"u survey draft {"words":"x"}"#])
    }

    @Test func withoutAUserEverySaveIsARow() throws {
        try scene.makeQuestionnaire()
        for user in [nil, .null, "", 5] as [JSONValue?] {
            for isComplete in [false, true] {
                let answer = client.send(
                    scene.respond(["words": "w"], ["user_id": user, "is_complete": .bool(isComplete)]))
                #expect(answer.status == 201)
                #expect(answer["was_submitted"] == .bool(isComplete))
            }
        }
        #expect(try app.count("SELECT COUNT(*) FROM questionnaire_responses") == 8)
        #expect(try app.count("SELECT COUNT(*) FROM questionnaire_responses WHERE submitted_at IS NOT NULL") == 4)
        #expect(try scene.records().isEmpty)
    }

    @Test func usersSlugsAndProjectsAreKeptApart() throws {
        let other = try AnalyticsScene(app, team: scene.team)
        for (scene, slug) in [(scene, "survey"), (scene, "second"), (other, "survey")] {
            try scene.makeQuestionnaire(slug)
            for user in ["u", "U", "u "] as [JSONValue] {
                #expect(client.send(scene.respond(["words": user], ["user_id": user], to: slug)).status == 201)
            }
        }
        #expect(try app.count("SELECT COUNT(*) FROM questionnaire_responses") == 9)
    }

    @Test func whatIsSentIsStored() throws {
        let id = try scene.makeQuestionnaire()
        var request = scene.respond(
            ["words": "  as sent\n"],
            [
                "user_id": "u", "session_id": .string(uuid(1)), "environment": " ipados ", "os_version": " 18 ",
                "app_version": "2", "sdk_name": "swift", "sdk_version": "3",
                "device_model": .string(String(repeating: "m", count: 99) + "😀"), "is_dev": true,
            ])
        request.headers = [("cf-ipcountry", "FR")]
        let answer = client.send(request)
        let row = try app.rows(
            """
            SELECT HEX(r.id), HEX(questionnaire_id), slug, HEX(app_id), HEX(r.project_id), HEX(session_id), user_id, r.answers,
                   u.is_dev, r.is_dev, environment, os_version, app_version, sdk_name, sdk_version, device_model,
                   country_code
            FROM questionnaire_responses r JOIN app_users u ON u.id = r.app_user_id
            """)
        let expected = [
            hexadecimal(answer["id"]?.string), hexadecimal(id), "survey", hexadecimal(scene.appID),
            hexadecimal(scene.project), hexadecimal(uuid(1)), "u",
            #"{"words":"  as sent\n"}"#, "1", "1", "ipados", "18", "2", "swift", "3",
            String(repeating: "m", count: 99) + "\u{FFFD}", "FR",
        ]
        #expect(row == [expected.joined(separator: " ")])
        // A later save stores the metadata of its client. The record does not change.
        let backend = try scene.makeApp(platform: .backend)
        var later = scene.respond(["nps": 1], ["user_id": "u"], token: backend.clientKey)
        later.headers = request.headers
        #expect(client.send(later).status == 200)
        #expect(
            try app.rows(
                """
                SELECT HEX(app_id), HEX(session_id), environment, os_version, country_code, u.is_dev, r.is_dev
                FROM questionnaire_responses r JOIN app_users u ON u.id = r.app_user_id
                """) == ["\(hexadecimal(backend.id)) 1 0"])
    }

    @Test func aRecordMadeForABackendIsNotForDevelopment() throws {
        try scene.makeQuestionnaire()
        let backend = try scene.makeApp(platform: .backend)
        #expect(
            client.send(scene.respond([:], ["user_id": "u", "is_dev": true], token: backend.clientKey)).status == 201)
        #expect(try app.column("SELECT CAST(is_dev AS CHAR) FROM app_users") == ["0"])
        #expect(try app.column("SELECT CAST(is_dev AS CHAR) FROM questionnaire_responses") == ["1"])
    }

    @Test(arguments: [false, true])
    func aSaveThatCannotBeWrittenLeavesNothing(isFirst: Bool) throws {
        try scene.makeQuestionnaire()
        var number = 0
        let scene = scene
        let injection = FailureInjection(app: app) { client in
            number += 1
            scene.useKey(client)
            let user = JSONValue.string("u\(number)")
            if !isFirst { _ = client.send(scene.respond(["words": "w"], ["user_id": user])) }
            return scene.respond(["words": "x"], ["user_id": user, "is_complete": true])
        }
        try injection.run(
            expecting: isFirst
                ? ["app_users INSERT", "questionnaire_responses INSERT"] : ["questionnaire_responses UPDATE"],
            status: isFirst ? 201 : 200)
    }
}
