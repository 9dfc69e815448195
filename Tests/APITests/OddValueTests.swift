import HTTP
import JSON
import Testing

/// A value that no column can hold finds nothing or is refused. A value that a column can hold is stored. Never a 500
/// (analytics §16.6).
@Suite struct OddValueTests {
    private static let odd: [String] = [
        "", " ", "é", "😀", "\0", "a\0b", "\u{FFFE}", "\u{FFFF}", "\u{10FFFF}", "e\u{301}", "\u{7F}", "\u{202E}", "\\",
        "'",
        "%", "_", String(repeating: "a", count: 70), String(repeating: "a", count: 3000),
        String(repeating: "😀", count: 300), String(repeating: "\u{FFFF}", count: 600), "-1", "9223372036854775807",
        "9223372036854775808", "1e400", "99999999999999999999d", "0000-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59.999-14:00", "+010000-01-01T00:00:00Z", "null",
    ]

    /// Further values for members of a body: numbers beyond the columns' ranges, and JSON nested too deep for the
    /// columns.
    private static let values: [JSONValue] =
        odd.map { .string($0) } + [
            .integer(.max), .integer(.min), 1.5e300, -0.5, [[:]], .bool(true), nested(31), nested(40),
        ]

    private static func nested(_ depth: Int) -> JSONValue { (0..<depth).reduce([:]) { inner, _ in ["a": inner] } }

    private static func escaped(_ text: String) -> String {
        text.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private func expect(_ answer: Answer, _ what: String, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(answer.status < 500, "\(what.prefix(200)): \(answer)", sourceLocation: sourceLocation)
    }

    // MARK: /v1

    @Test func inQueriesAndPathsOfAnalytics() throws {
        let app = try TestApp()
        let scene = try AnalyticsScene(app)
        let client = app.client()
        try scene.makeQuestionnaire()
        _ = client.send(scene.ingest([scene.event(of: "u")]))
        let lists = [
            "/v1/events", "/v1/events/count", "/v1/app-users", "/v1/apps/\(scene.appID)/users", "/v1/feedback",
            "/v1/projects/\(scene.project)/feedback", "/v1/attachments", "/v1/apps", "/v1/projects",
            "/v1/projects/\(scene.project)/attachment-usage",
        ]
        let filters = [
            "user_id", "app_id", "team_id", "project_id", "session_id", "environment", "screen_name", "level", "status",
            "since", "until", "data_mode", "order", "cursor", "limit", "search", "is_anonymous", "billing_status",
            "sort",
            "is_dev", "event_id", "event_client_id", "issue_id",
        ]
        for value in Self.odd.map(Self.escaped) {
            for list in lists {
                for filter in filters {
                    expect(scene.get("\(list)?\(filter)=\(value)", client), "\(list) \(filter)=\(value)")
                }
            }
            for path in ["events", "app-users", "attachments"] {
                expect(scene.get("/v1/\(path)/\(value)", client), path)
            }
            for path in [
                "/v1/apps/\(value)/users", "/v1/projects/\(value)/feedback", "/v1/attachments/download?t=\(value)",
            ] {
                expect(scene.get(path, client), path)
            }
        }
        for value in Self.odd {
            expect(client.send(scene.show(value)), "slug \(value)")
            expect(client.send(scene.respond([:], to: value)), "slug \(value)")
            expect(client.send(scene.show("survey", "&user_id=" + Self.escaped(value))), "user \(value)")
        }
    }

    @Test func inBodiesOfAnalytics() throws {
        let app = try TestApp()
        let scene = try AnalyticsScene(app)
        let client = app.client()
        try scene.makeQuestionnaire()
        let members = [
            "user_id", "session_id", "client_event_id", "timestamp", "environment", "is_dev", "message", "level",
            "source_module", "screen_name", "os_version", "app_version", "sdk_name", "sdk_version", "device_model",
            "build_number", "locale", "preferred_language", "custom_attributes", "supported_languages",
        ]
        for value in Self.values {
            // The others of the batch are stored, whatever becomes of this one.
            for (path, isImport) in [("ingest", false), ("import", true)] {
                for message in ["m", "metric:m:record", "step:s"] {
                    let plain = scene.event(message)
                    var events = members.map { plain.adding([$0: value]) }
                    for key in ["tracking_id", "duration_ms", "error", "_error_stack", "a"] {
                        events.append(plain.adding(["custom_attributes": .object(JSONObject([(key, value)]))]))
                    }
                    if let key = value.string {
                        events.append(plain.adding(["custom_attributes": .object(JSONObject([(key, "v")]))]))
                        events.append(plain.adding(["message": .string("metric:\(key):start")]))
                        events.append(plain.adding(["message": .string("track:" + key)]))
                    }
                    let answer = client.send(isImport ? scene.importing(events) : scene.ingest(events))
                    #expect(answer.status == 200, "\(path) \(value): \(answer)")
                    let (accepted, rejected) = (answer["accepted"]?.integer ?? 0, answer["rejected"]?.integer ?? 0)
                    let (updated, duplicates) = (answer["updated"]?.integer ?? 0, answer["duplicates"]?.integer ?? 0)
                    #expect(accepted + rejected + updated + duplicates == events.count, "\(answer)")
                }
            }
            for member in [
                "message", "submitter_name", "submitter_email", "session_id", "user_id", "environment", "os_version",
                "app_version", "sdk_name", "sdk_version", "device_model", "is_dev",
            ] {
                expect(client.send(scene.feedback([member: value])), "feedback \(member)")
                expect(client.send(scene.respond(["words": "w"], [member: value])), "response \(member)")
            }
            for question in ["words", "one", "some", "stars", "nps"] {
                let answers = JSONValue.object(JSONObject([("words", "w"), (question, value)]))
                expect(client.send(scene.respond(answers, ["user_id": "v"])), "answer \(question)")
            }
            expect(client.send(scene.dismiss(["user_id": value])), "dismiss")
            expect(client.send(scene.claim(value, "u")), "claim")
            expect(client.send(scene.claim("owl_anon_a", value)), "claim")
            expect(client.send(scene.claim(.string("owl_anon_" + (value.string ?? "")), "u")), "claim")
            expect(client.send(scene.properties(value, ["a": "b"])), "properties")
            expect(client.send(scene.properties("u", .object(JSONObject([("a", value)])))), "property")
            if let key = value.string {
                expect(client.send(scene.properties("u", .object(JSONObject([(key, "b")])))), "property key")
            }
            for member in ["client_event_id", "user_id", "original_filename", "content_type", "size_bytes", "sha256"] {
                expect(client.send(scene.reservation(of: [1], [member: value])), "attachment \(member)")
            }
        }
        for path in ["/v1/events?limit=200", "/v1/app-users", "/v1/feedback?limit=200", "/v1/attachments"] {
            #expect(scene.get(path, client).status == 200)
        }
        try scene.expectClean()
    }

    // MARK: /api and /oauth

    @Test func inBodiesOfAccounts() throws {
        let scene = try OAuthScene()
        let client = scene.client
        let person = try scene.person()
        let rp = try scene.register(confidential: true)
        var number = 0
        for value in Self.values {
            number += 1
            let device: JSONValue = ["device_uuid": .string(uuid(number)), "platform": "ios"]
            for member in ["device_uuid", "platform", "device_secret", "device_name"] {
                expect(client.send(.post, "/api/v1/devices", device.adding([member: value])), "devices \(member)")
            }
            for member in ["identity_token", "raw_nonce", "full_name", "device_uuid", "platform", "device_secret"] {
                let body = scene.app.proof("subject").adding(["device_uuid": .string(uuid(number)), "platform": "ios"])
                expect(
                    client.send(.post, "/api/v1/auth/apple/session", body.adding([member: value])), "session \(member)")
            }
            for member in [
                "name", "nickname", "contact_email", "phone_number", "address", "postal_code", "birthdate", "gender",
                "locale",
            ] {
                expect(
                    client.send(.patch, "/api/v1/me", ([:] as JSONValue).adding([member: value]), token: person.token),
                    "me \(member)")
            }
            for member in ["name", "redirect_uris", "allowed_scopes", "app_link_url", "client_type", "webhook_url"] {
                let body: JSONValue = ["name": "Shop", "redirect_uris": ["https://shop.example/cb"]]
                expect(
                    client.send(.post, "/api/v1/applications", body.adding([member: value]), token: person.token),
                    "application \(member)")
            }
            for member in scene.parameters(rp).map(\.0) + ["nonce", "prompt", "max_age"] {
                let members = JSONValue.object(
                    JSONObject(scene.parameters(rp).map { ($0.0, JSONValue.string($0.1)) }))
                expect(
                    client.send(.post, "/api/v1/oauth/authorize", members.adding([member: value]), token: person.token),
                    "authorize \(member)")
            }
        }
    }

    @Test func inQueriesPathsAndFormsOfAccounts() throws {
        let scene = try OAuthScene()
        let client = scene.client
        let person = try scene.person()
        let rp = try scene.register(confidential: true)
        for value in Self.odd {
            let escaped = Self.escaped(value)
            for path in [
                "/api/v1/applications/\(escaped)", "/oauth/subs/\(escaped)", "/auth/\(escaped)/web/start",
                "/diagnose?client_id=\(escaped)", "/oauth/device?user_code=\(escaped)",
                "/oauth/login?request=\(escaped)",
                "/oauth/consent?request=\(escaped)",
                "/session/logout?post_logout_redirect_uri=\(escaped)&client_id=\(escaped)",
                "/oauth/logout?post_logout_redirect_uri=\(escaped)&client_id=\(escaped)",
                "/oauth/logout?id_token_hint=\(escaped)&state=\(escaped)", "/oauth/logout?request=\(escaped)",
            ] {
                expect(client.send(.get, path, token: person.token), path)
            }
            expect(
                client.send(
                    .get, "/oauth/subs/\(escaped)", headers: [("authorization", basic(rp.clientID, rp.secret ?? ""))]),
                "sub \(value)")
            for name in ["since", "limit", "event_type"] {
                expect(
                    client.send(
                        .get, "/api/v1/events?\(name)=\(escaped)",
                        headers: [("authorization", basic(rp.clientID, rp.secret ?? ""))]),
                    "events \(name) \(value)")
            }
            for (position, parameter) in scene.parameters(rp).enumerated() {
                var parameters = scene.parameters(rp)
                parameters[position].1 = value
                let query = parameters.map { "\($0.0)=\(Self.escaped($0.1))" }.joined(separator: "&")
                for path in ["/oauth/authorize", "/api/v1/oauth/authorize/preview"] {
                    expect(client.send(.get, "\(path)?\(query)", token: person.token), "\(path) \(parameter.0)")
                }
            }
            for (path, name) in [
                ("/oauth/device_authorization", "scope"), ("/oauth/revoke", "token"), ("/oauth/introspect", "token"),
                ("/oauth/token", "grant_type"),
            ] {
                expect(scene.post(path, [(name, value)], as: rp), "\(path) \(name)")
                expect(scene.post(path, [(name, "x"), ("client_id", value)], as: nil), "\(path) client_id")
                expect(
                    scene.post(path, [(name, "x"), ("client_id", rp.clientID), ("client_secret", value)], as: nil), path
                )
            }
            for (grant, name) in [
                ("authorization_code", "code"), ("refresh_token", "refresh_token"),
                ("urn:ietf:params:oauth:grant-type:device_code", "device_code"),
            ] {
                expect(
                    scene.post(
                        "/oauth/token",
                        [("grant_type", grant), (name, value), ("redirect_uri", value), ("code_verifier", value)],
                        as: rp),
                    grant)
            }
        }
    }
}
