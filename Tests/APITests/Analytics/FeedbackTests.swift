import Analytics
import HTTP
import JSON
import TestSupport
import Testing
import Time

/// Analytics §10 over the wire.
@Suite struct FeedbackTests {
    let app: TestApp
    let scene: AnalyticsScene
    let client: Client

    init() throws {
        app = try TestApp()
        scene = try AnalyticsScene(app)
        client = app.client()
    }

    @Test func checksComeInTheirOrder() throws {
        let importKey = scene.importKey
        let wrong: KeyValuePairs<String, JSONValue?> = [
            "bundle_id": .null, "message": " \n", "submitter_email": "nobody", "session_id": "1",
            "user_id": .string(String(repeating: "u", count: 256)), "environment": "windows",
        ]
        var request = scene.feedback(wrong, token: importKey)
        try app.change("UPDATE projects SET deleted_at = created_at")
        func expect(_ status: Int, _ text: String, _ fix: () throws -> Void) throws {
            #expect(client.send(request).description == refusal(status, text))
            try fix()
        }
        try expect(403, "Client key required for feedback ingest") { request.token = scene.clientKey }
        try expect(400, "App associated with this API key no longer exists") {
            try app.change("UPDATE projects SET deleted_at = NULL")
            try app.change("UPDATE apps SET deleted_at = created_at")
        }
        try expect(400, "App associated with this API key no longer exists") {
            try app.change("UPDATE apps SET deleted_at = NULL")
        }
        func set(_ name: String, _ value: JSONValue) { request.body = request.body?.adding([name: value]) }
        try expect(400, "bundle_id is required") { set("bundle_id", "com.example ") }
        try expect(403, "bundle_id does not match the app associated with this API key") {
            set("bundle_id", "com.example")
        }
        try expect(400, "message is required") { set("message", .string(String(repeating: "😀", count: 2000) + "x")) }
        try expect(400, "message must be at most 4000 characters") {
            set("message", .string(" " + String(repeating: "😀", count: 2000) + "\n"))
        }
        try expect(400, "submitter_email is not a valid email address") { set("submitter_email", " a@b.c ") }
        try expect(400, "session_id must be a UUID") { set("session_id", .string(uuid(1))) }
        try expect(400, "user_id exceeds max length of 255") { set("user_id", "u") }
        try expect(
            400, #"environment \"windows\" is not allowed for apple apps (allowed: ios, ipados, macos, watchos)"#
        ) { set("environment", "macos") }
        #expect(try app.count("SELECT COUNT(*) FROM feedback") + app.count("SELECT COUNT(*) FROM app_users") == 0)
        #expect(client.send(request).status == 201)
        #expect(try app.count("SELECT CHAR_LENGTH(message) FROM feedback") == 2000)
    }

    @Test func itTakesTheRightToWriteEventsAndAClient() throws {
        let reader = try scene.makeKey(.client, permissions: [.usersWrite])
        #expect(
            client.send(scene.feedback(token: reader)).description == refusal(403, "Missing permission: events:write"))
        let agent = try scene.makeKey(.agent, permissions: [.eventsWrite])
        #expect(
            client.send(scene.feedback(token: agent)).description
                == refusal(403, "Client key required for feedback ingest"))
    }

    @Test(
        arguments: [
            ("message", 4000), ("submitter_name", 255), ("submitter_email", 320), ("user_id", 255), ("os_version", 50),
            ("app_version", 50), ("sdk_name", 50), ("sdk_version", 50), ("device_model", 100),
        ])
    func noFieldHoldsANUL(field: String, length: Int) throws {
        let text = field == "submitter_email" ? "a\0@b.c" : "a\0b"
        #expect(
            client.send(scene.feedback([field: .string(text)])).description
                == refusal(400, "\(field) must not contain NUL characters"))
        #expect(try scene.records().isEmpty)
        // A NUL behind the length limit is cut off.
        if !["message", "user_id", "submitter_email"].contains(field) {
            let long = String(repeating: "x", count: length) + "\0"
            #expect(client.send(scene.feedback([field: .string(long)])).status == 201)
        }
    }

    @Test func whatIsSentIsStored() throws {
        let answer = client.send(
            scene.feedback([
                "message": "  It \u{1F4A5}\n", "submitter_name": .string(String(repeating: "n", count: 254) + "😀"),
                "submitter_email": " me@example.com ", "session_id": .string(uuid(1)), "user_id": " u ",
                "environment": " ios ", "os_version": "18.1", "app_version": "2", "sdk_name": "swift",
                "sdk_version": "3", "device_model": .string(String(repeating: "m", count: 101)), "is_dev": true,
                "country_code": "DE", "status": "closed",
            ]))
        #expect(answer.status == 201)
        #expect(answer.json == ["id": answer["id"] ?? .null, "created_at": .string(app.time.now.iso8601Milliseconds)])
        let row = try app.column(
            """
            SELECT CONCAT_WS('|', HEX(f.id), HEX(f.app_id), HEX(f.project_id), HEX(f.session_id), u.user_id, message, submitter_name,
                             submitter_email, status, f.is_dev, environment, os_version, app_version, sdk_name, sdk_version,
                             device_model, COALESCE(country_code, 'no country'), f.created_at = f.updated_at,
                             f.deleted_at IS NULL)
            FROM feedback f JOIN app_users u ON u.id = f.app_user_id
            """)
        let expected = [
            hexadecimal(answer["id"]?.string), hexadecimal(scene.appID), hexadecimal(scene.project),
            hexadecimal(uuid(1)), " u ", "It \u{1F4A5}",
            String(repeating: "n", count: 254) + "\u{FFFD}", "me@example.com", "new", "1", "ios", "18.1", "2", "swift",
            "3", String(repeating: "m", count: 100), "no country", "1", "1",
        ]
        #expect(row == [expected.joined(separator: "|")])
    }

    @Test func whatIsNoStringCountsAsNull() throws {
        let body: KeyValuePairs<String, JSONValue?> = [
            "submitter_name": 5, "submitter_email": ["a@b.c"], "user_id": 9, "environment": true,
            "os_version": 18.1, "app_version": [:], "sdk_name": false, "sdk_version": .null, "device_model": 1,
            "is_dev": "true",
        ]
        #expect(client.send(scene.feedback(body)).status == 201)
        let empty: KeyValuePairs<String, JSONValue?> = [
            "submitter_name": "", "submitter_email": "\u{FEFF}", "session_id": .null, "user_id": "",
            "environment": "\t",
            "os_version": "",
        ]
        #expect(client.send(scene.feedback(empty)).status == 201)
        #expect(
            try app.count(
                """
                SELECT COUNT(*) FROM feedback
                WHERE session_id IS NULL AND app_user_id IS NULL AND NOT is_dev
                  AND COALESCE(submitter_name, submitter_email, environment, os_version, app_version, sdk_name, sdk_version,
                               device_model, country_code) IS NULL
                """) == 2)
        #expect(try scene.records().isEmpty)
    }

    @Test(arguments: [7, 1.5, true, false, [], [:], ["00000000-0000-4000-8000-000000000001"], "", " "] as [JSONValue])
    func aSessionIsAUUIDOrNull(value: JSONValue) throws {
        let refused = refusal(400, "session_id must be a UUID")
        #expect(client.send(scene.feedback(["session_id": value])).description == refused)
        // The check comes at its place in the order.
        let email = refusal(400, "submitter_email is not a valid email address")
        #expect(client.send(scene.feedback(["session_id": value, "submitter_email": "x"])).description == email)
        #expect(client.send(scene.feedback(["session_id": value, "environment": "x"])).description == refused)
        #expect(try app.count("SELECT COUNT(*) FROM feedback") == 0)
    }

    @Test func aMessageOfWhiteSpaceIsNone() throws {
        for text in ["\u{FEFF}", " \u{A0}\u{1680}\u{2028}\u{2029}\u{202F}\u{205F}\u{3000}\u{FEFF}\t\r\n", ""] {
            #expect(
                client.send(scene.feedback(["message": .string(text)])).description
                    == refusal(400, "message is required"))
        }
        // ECMAScript does not trim these characters, so the message is not empty.
        for text in ["\u{200B}", "\u{85}", "\u{180E}", "\u{2060}"] {
            #expect(client.send(scene.feedback(["message": .string("\u{FEFF}\(text) ")])).status == 201)
            #expect(try app.column("SELECT message FROM feedback") == [text])
            try app.change("DELETE FROM feedback")
        }
    }

    @Test func aBodyWithoutFieldsIsAnsweredLikeAnEmptyOne() {
        for body in ["", "null", "[1]", "\"x\"", "{}"] {
            let answer = client.send(
                .post, "/v1/feedback", bytes: Array(body.utf8), token: scene.clientKey,
                headers: [("content-type", "application/json")])
            #expect(answer.description == refusal(400, "bundle_id is required"))
        }
    }

    @Test func halfASurrogatePairIsReplaced() throws {
        let body = #"{"bundle_id":"com.example","message":"cut \ud83d","user_id":"u\udc00","sdk_name":"\ud83d\ude00"}"#
        let answer = client.send(
            .post, "/v1/feedback", bytes: Array(body.utf8), token: scene.clientKey,
            headers: [("content-type", "application/json")])
        #expect(answer.status == 201)
        #expect(
            try app.rows("SELECT message, user_id, sdk_name FROM feedback f JOIN app_users u ON u.id = f.app_user_id")
                == ["cut \u{FFFD} u\u{FFFD} 😀"])
    }

    @Test func anAppWithoutABundleNeedsNone() throws {
        let web = try scene.makeApp(platform: .web)
        #expect(
            client.send(scene.feedback(["bundle_id": .null, "environment": "web"], token: web.clientKey)).status == 201)
        #expect(client.send(scene.feedback(["bundle_id": "other"], token: web.clientKey)).status == 201)
        #expect(
            client.send(scene.feedback(["environment": "ios"], token: web.clientKey)).description
                == refusal(400, #"environment \"ios\" is not allowed for web apps (allowed: web)"#))
    }

    @Test func theCountryIsTheHeadersButForABackend() throws {
        let backend = try scene.makeApp(platform: .backend)
        for token in [scene.clientKey, backend.clientKey] {
            var request = scene.feedback(["country_code": "FR"], token: token)
            request.headers = [("cf-ipcountry", " de ")]
            #expect(client.send(request).status == 201)
        }
        #expect(
            try app.column("SELECT country_code FROM feedback ORDER BY country_code") == ["NULL", "DE"])
    }

    @Test func aRecordIsMadeOnceAndNeverChanged() throws {
        let backend = try scene.makeApp(platform: .backend)
        #expect(client.send(scene.feedback(["user_id": "u", "is_dev": true])).status == 201)
        #expect(client.send(scene.feedback(["user_id": "b", "is_dev": true], token: backend.clientKey)).status == 201)
        let before = try app.column(
            "SELECT CONCAT_WS(' ', user_id, is_dev, first_seen_at = last_seen_at) FROM app_users")
        #expect(before == ["u 1 1", "b 0 1"])
        app.time.advance(by: .seconds(60))
        #expect(client.send(scene.feedback(["user_id": "u"])).status == 201)
        #expect(
            try app.column("SELECT CONCAT_WS(' ', user_id, is_dev, first_seen_at = last_seen_at) FROM app_users")
                == before)
        #expect(try app.count("SELECT COUNT(*) FROM app_user_apps") == 0)
    }

    @Test func itLandsUnderTheOwnerOfAClaimedID() throws {
        #expect(client.send(scene.feedback(["user_id": "owl_anon_a"])).status == 201)
        #expect(client.send(scene.feedback(["user_id": "u"])).status == 201)
        #expect(client.send(scene.claim("owl_anon_a", "u")).status == 200)
        #expect(client.send(scene.feedback(["user_id": "owl_anon_a"])).status == 201)
        #expect(
            try app.column("SELECT u.user_id FROM feedback f JOIN app_users u ON u.id = f.app_user_id")
                == ["u", "u", "u"])
    }

    @Test func afterARaceWithAClaimAllIsUnderTheOwner() throws {
        let scene = scene
        for round in 0..<4 {
            let (anonymous, user) = (JSONValue.string("owl_anon_\(round)"), JSONValue.string("u\(round)"))
            let statuses = app.atOnce(16) { client, thread in
                client.send(
                    thread % 4 == 0 ? scene.claim(anonymous, user) : scene.feedback(["user_id": anonymous])
                ).status
            }
            #expect(statuses.allSatisfy { [200, 201].contains($0) }, "\(statuses)")
        }
        #expect(
            try app.column(
                """
                SELECT CONCAT_WS(' ', u.user_id, COUNT(*)) FROM feedback f JOIN app_users u ON u.id = f.app_user_id
                GROUP BY u.user_id ORDER BY u.user_id
                """) == ["u0 12", "u1 12", "u2 12", "u3 12"])
    }

    @Test func feedbackThatCannotBeWrittenLeavesNothing() throws {
        var number = 0
        let scene = scene
        let injection = FailureInjection(app: app) { client in
            number += 1
            scene.useKey(client)
            return scene.feedback(["user_id": .string("u\(number)")])
        }
        try injection.run(expecting: ["app_users INSERT", "feedback INSERT"], status: 201)
    }
}
