import Accounts
import HTTP
import JSON
import OpenSSL
import TestSupport
import Testing
import Time

/// The registration of applications by developers (accounts §2.1).
@Suite struct ApplicationTests {
    let scene: OAuthScene
    let developer: Phone

    init() throws {
        scene = try OAuthScene()
        developer = try scene.developer()
    }

    private var app: TestApp { scene.app }

    // MARK: Registration

    @Test func aConfidentialClientIsRegistered() throws {
        let answer = scene.create(
            scene.members([
                "client_type": "confidential",
                "redirect_uris": ["https://notes.example/cb", "http://localhost:3000/cb"],
                "allowed_scopes": ["openid", "shop:member"],
            ]), by: developer)
        #expect(answer.status == 201)
        #expect(answer.header("Cache-Control") == "no-store")
        #expect(
            scene.names(answer.json) == [
                "id", "client_id", "client_type", "token_endpoint_auth_method", "redirect_uris", "allowed_scopes",
                "status", "client_secret", "webhook_key",
            ])
        let clientID = try #require(answer["client_id"]?.string)
        let secret = try #require(answer["client_secret"]?.string)
        let (kid, webhookSecret) = (
            try #require(answer["webhook_key"]?["kid"]?.string), try #require(answer["webhook_key"]?["secret"]?.string)
        )
        #expect(clientID.wholeMatch(of: /logi_[0-9a-f]{32}/) != nil)
        #expect(secret.wholeMatch(of: /logi_secret_[0-9a-f]{64}/) != nil)
        #expect(kid.wholeMatch(of: /whk_2026q2_[0-9a-f]{2}/) != nil)
        #expect(webhookSecret.wholeMatch(of: /whsec_[A-Za-z0-9+\/]{43}=/) != nil)
        #expect(answer["client_type"] == "confidential")
        #expect(answer["token_endpoint_auth_method"] == "client_secret_basic")
        #expect(answer["redirect_uris"] == ["https://notes.example/cb", "http://localhost:3000/cb"])
        #expect(answer["allowed_scopes"] == ["openid", "shop:member"])
        #expect(answer["status"] == "pending")
        let id = try #require(answer["id"]?.integer)
        #expect(
            try app.count(
                """
                SELECT COUNT(*) FROM applications
                WHERE id = ? AND owner_user_id = ? AND secret_digest = ? AND previous_secret_digest IS NULL
                """, id, developer.userID, sha256(secret.utf8)) == 1)

        #expect(
            try scene.audited() == [
                #"\#(developer.userID) user:\#(developer.userID) application.created {"client_id":"\#(clientID)","client_type":"confidential"}"#,
                #"\#(developer.userID) user:\#(developer.userID) webhook_key.created {"client_id":"\#(clientID)","kid":"\#(kid)"}"#,
            ])
        let shown = scene.show(clientID, to: developer)
        let (dump, log) = (try app.database.dump(), app.log.lines.joined(separator: "\n"))
        for secret in [secret, webhookSecret] {
            #expect(!dump.contains(secret) && !log.contains(secret) && !shown.text.contains(secret))
        }
    }

    @Test func aPublicClientHasNoSecret() throws {
        let answer = scene.create(scene.members(), by: developer)
        #expect(answer.status == 201)
        #expect(answer["client_secret"] == nil && answer["webhook_key"] != nil)
        #expect(answer["token_endpoint_auth_method"] == "none")
        #expect(answer["allowed_scopes"] == ["openid", "profile:basic", "email"])
        #expect(try app.count("SELECT COUNT(*) FROM applications WHERE secret_digest IS NULL") == 1)
    }

    @Test func everyMemberIsKept() throws {
        let clientID = try scene.create(
            by: developer,
            [
                "name": "체스 🐴", "app_link_url": "https://notes.example/app",
                "webhook_url": "https://93.184.216.34/hook", "webhook_events": ["user.merged"],
                "backchannel_logout_uri": "https://93.184.216.34/logout?a=1&b=2", "scope_policy": "log_only",
                "notify_anonymous_swap": true,
            ])
        let shown = scene.show(clientID, to: developer)
        #expect(shown.status == 200)
        #expect(
            shown.text
                == #"{"id":\#(shown["id"]?.integer ?? 0),"client_id":"\#(clientID)","name":"체스 🐴","client_type":"public","#
                + #""token_endpoint_auth_method":"none","redirect_uris":["com.example.notes://callback"],"#
                + #""post_logout_redirect_uris":[],"#
                + #""allowed_scopes":["openid","profile:basic","email"],"status":"pending","#
                + #""app_link_url":"https://notes.example/app","webhook_url":"https://93.184.216.34/hook","#
                + #""webhook_events":["user.merged"],"webhook_disabled_at":null,"#
                + #""backchannel_logout_uri":"https://93.184.216.34/logout?a=1&b=2","scope_policy":"log_only","#
                + #""notify_anonymous_swap":true,"allow_anonymous_grants":false,"first_party":false,"#
                + #""linked_sub_details":false,"created_at":"2026-05-12T07:00:00Z"}"#)
    }

    @Test func theOtherNameOfTheBodyIsTaken() throws {
        let answer = scene.client.send(
            .post, OAuthScene.applications,
            [
                "oauth_application": scene.members([
                    "app_link_url": .null, "webhook_url": .null, "scope_policy": .null, "allowed_scopes": .null,
                    "notify_anonymous_swap": .null, "unknown": ["x"],
                ])
            ], token: developer.token)
        #expect(answer.status == 201)
        let shown = scene.show(try #require(answer["client_id"]?.string), to: developer)
        #expect(shown["scope_policy"] == "block" && shown["webhook_url"] == .null)
    }

    /// Only the operator sets these.
    @Test func statusAndFlagsAreNotTheDevelopers() throws {
        let wished: KeyValuePairs<String, JSONValue?> = [
            "status": "active", "allow_anonymous_grants": true, "first_party": true, "linked_sub_details": true,
            "client_id": "mine", "client_secret": "mine", "owner_user_id": 1,
        ]
        let clientID = try scene.create(by: developer, wished)
        #expect(scene.patch(clientID, JSONValue.object(JSONObject([])).adding(wished), by: developer).status == 200)
        let shown = scene.show(clientID, to: developer)
        #expect(shown["status"] == "pending" && shown["client_id"] == .string(clientID))
        for flag in ["allow_anonymous_grants", "first_party", "linked_sub_details"] { #expect(shown[flag] == false) }
    }

    @Test(arguments: [true, false])
    func onlyActiveOnesWork(_ isApprovedAtOnce: Bool) throws {
        let scene = try OAuthScene(
            TestApp(
                settings: AccountsSettings(issuer: TestApp.issuer, autoApprovesApplications: isApprovedAtOnce)))
        let developer = try scene.developer()
        let answer = scene.create(scene.members(["client_type": "confidential"]), by: developer)
        #expect(answer["status"] == (isApprovedAtOnce ? "active" : "pending"))
        let rp = TestClient(
            id: try #require(answer["id"]?.integer), clientID: try #require(answer["client_id"]?.string),
            secret: answer["client_secret"]?.string, redirectURI: "com.example.notes://callback")
        if isApprovedAtOnce {
            _ = try scene.signIn(rp, as: developer)
        } else {
            #expect(scene.authorize(rp, as: developer).error == "invalid_client")
        }
    }

    // MARK: Who may

    @Test func onlyDevelopersMay() throws {
        let paths: [(Method, String)] = [
            (.post, ""), (.get, ""), (.get, "/logi_0"), (.patch, "/logi_0"), (.post, "/logi_0/rotate_secret"),
            (.post, "/logi_0/webhook_keys"),
        ]
        let (user, scopeless, bound) = (
            try scene.person("user"), try scene.developer("scopeless"), try scene.developer("bound")
        )
        try app.change("UPDATE paks SET scopes = 'profile:read' WHERE user_id = ?", scopeless.userID)
        let application = try app.makeApplication("logi_9")
        try app.change(
            "UPDATE paks SET scopes = 'profile:write', application_id = ? WHERE user_id = ?", application, bound.userID)
        try app.expectUnchanged {
            for (method, path) in paths {
                func send(_ token: String?) -> String {
                    "\(scene.client.send(method, OAuthScene.applications + path, ["application": 1], token: token))"
                }
                #expect(send(nil) == refusal(401, "invalid_token"))
                #expect(send(user.token) == refusal(403, "developer_required"))
                #expect(send(scopeless.token) == refusal(403, "insufficient_scope"))
                #expect(send(bound.token) == refusal(403, "insufficient_scope"))
            }
        }
        let admin = try scene.developer("admin", role: "admin")
        #expect(scene.create(scene.members(), by: admin).status == 201)
    }

    @Test func nobodySeesThoseOfOthers() throws {
        let other = try scene.developer("other", role: "admin")
        let clientID = try scene.create(by: developer)
        let operators = try scene.register().clientID
        try app.expectUnchanged {
            for clientID in [clientID, operators, "logi_none", "a%00b", "\(clientID)\0", "é"] {
                let path = "\(OAuthScene.applications)/\(clientID)"
                let answers = [
                    scene.client.send(.get, path, token: other.token),
                    scene.client.send(.patch, path, ["application": ["name": "Mine"]], token: other.token),
                    scene.client.send(.patch, path, [:], token: other.token),
                    scene.client.send(.post, "\(path)/rotate_secret", [:], token: other.token),
                    scene.client.send(.post, "\(path)/webhook_keys", token: other.token),
                ]
                for answer in answers { #expect("\(answer)" == refusal(404, "not_found")) }
            }
        }
        let second = try scene.create(by: developer)
        let listed = scene.client.send(.get, OAuthScene.applications, token: developer.token)
        #expect(
            listed["applications"]?.array == [
                scene.show(clientID, to: developer).json, scene.show(second, to: developer).json,
            ])
        #expect(scene.client.send(.get, OAuthScene.applications, token: other.token).text == #"{"applications":[]}"#)
    }

    // MARK: Refusals

    @Test(
        arguments: [
            ["name": ""], ["name": " "], ["name": "\u{200B}"], ["name": "\u{2060} \u{FEFF}"],
            ["name": "\u{3164}\u{FFA0}"], ["name": "\u{AD}\u{FE0F}"], ["name": "a\u{7}b"], ["name": "Shop\u{202E}"],
            ["name": "\u{2067}Shop"],
            ["name": .string(String(repeating: "n", count: 201))],
            ["name": 1], ["name": .null], ["client_type": "secret"], ["client_type": .null], ["client_type": 1],
            ["redirect_uris": []], ["redirect_uris": "https://notes.example/cb"], ["redirect_uris": [1]],
            ["redirect_uris": .null],
            ["redirect_uris": .array((1...21).map { .string("https://notes.example/\($0)") })],
            ["post_logout_redirect_uris": .array((1...21).map { .string("https://notes.example/\($0)") })],
            ["post_logout_redirect_uris": "https://notes.example/bye"], ["post_logout_redirect_uris": [1]],
            ["allowed_scopes": ["everything"]], ["allowed_scopes": ["a:b:c"]], ["allowed_scopes": [":b"]],
            ["allowed_scopes": ["a b:c"]], ["allowed_scopes": "openid"], ["app_link_url": "javascript:alert(1)"],
            ["app_link_url": "http://notes.example"], ["app_link_url": "https://"], ["app_link_url": "notes"],
            ["scope_policy": "none"], ["notify_anonymous_swap": "yes"], ["webhook_url": 1],
        ] as [JSONValue])
    func whatIsMalformedIsRefused(_ change: JSONValue) throws {
        guard case .object(let object) = change, let member = object.members.first else {
            Issue.record("not an object with a member")
            return
        }
        let answer = scene.client.send(
            .post, OAuthScene.applications,
            .object(JSONObject([("application", scene.members().adding([member.name: member.value]))])),
            token: developer.token)
        #expect("\(answer)" == refusal(400, "invalid_request"))
    }

    @Test(arguments: [#"{}"#, #"{"application":null}"#, #"{"application":[]}"#, #"{"name":"Notes"}"#, "[]", "x", ""])
    func abodyWithoutAnApplicationIsRefused(_ body: String) throws {
        let answer = scene.client.send(.post, OAuthScene.applications, bytes: Array(body.utf8), token: developer.token)
        #expect("\(answer)" == refusal(400, "invalid_request"))
    }

    @Test(arguments: [
        ("my_app://cb", "scheme_underscore"), ("javascript:alert(1)", "scheme_forbidden"),
        ("http://notes.example/cb", "plain_http"), ("https://notes.example/cb#x", "fragment"),
        ("https://me@notes.example/cb", "userinfo"), ("https://notes.example/a+b", "characters"),
        ("https://id.example/cb", "idp_host"), ("https://ID.example:8443/cb", "idp_host"), ("", "scheme_forbidden"),
    ])
    func aRedirectURIIsRefusedWithItsReason(_ uri: String, _ reason: String) throws {
        let clientID = try scene.create(by: developer)
        let uris: JSONValue = ["https://notes.example/cb", .string(uri)]
        try app.expectUnchanged {
            for answer in [
                scene.create(scene.members(["redirect_uris": uris]), by: developer),
                scene.patch(clientID, ["redirect_uris": uris], by: developer),
                scene.create(scene.members(["post_logout_redirect_uris": uris]), by: developer),
                scene.patch(clientID, ["post_logout_redirect_uris": uris], by: developer),
            ] {
                #expect(
                    "\(answer)" == #"422 {"error":"invalid_redirect_uri","error_description":"\#(reason)"}"#)
            }
        }
    }

    /// The rest is in `OutboundURLTests`.
    @Test(arguments: [
        "http://93.184.216.34/", "https://127.0.0.1/", "https://0x7f.1/", "https://[::ffff:10.0.0.1]/",
        "https://localhost/",
        "https://169.254.169.254/latest/meta-data", "https://me@93.184.216.34/", "hook", "",
    ])
    func whereNothingIsSentToIsRefused(_ url: String) throws {
        let clientID = try scene.create(by: developer)
        try app.expectUnchanged {
            for member in ["webhook_url", "backchannel_logout_uri"] {
                for answer in [
                    scene.create(scene.members().adding([member: .string(url)]), by: developer),
                    scene.patch(clientID, JSONValue.object(JSONObject([(member, .string(url))])), by: developer),
                ] { #expect("\(answer)" == refusal(422, "invalid_webhook_url")) }
            }
        }
    }

    @Test func developmentSendsToThisMachine() throws {
        let scene = try OAuthScene(
            TestApp(settings: AccountsSettings(issuer: TestApp.issuer, isDevelopment: true)))
        let developer = try scene.developer()
        #expect(
            scene.create(scene.members(["webhook_url": "http://127.0.0.1:3000/hook"]), by: developer).status == 201)
        #expect(
            scene.create(scene.members(["webhook_url": "https://127.0.0.1/"]), by: developer).error
                == "invalid_webhook_url")
    }

    // MARK: Limits

    @Test func tenAnHourAndThirtyADay() throws {
        for hour in 0..<3 {
            for number in 0..<10 {
                _ = scene.create(scene.members(["name": ""]), by: developer)
                #expect(scene.create(scene.members(), by: developer).status == 201, "\(hour) \(number)")
            }
            let refused = scene.create(scene.members(), by: developer)
            #expect("\(refused)" == refusal(429, "rate_limited"))
            #expect(refused.header("Retry-After") == (hour < 2 ? "3600" : "79200"))
            app.time.advance(by: .seconds(3600))
        }
        #expect(scene.create(scene.members(), by: developer).header("Retry-After") == "75600")
        #expect(try scene.create(scene.members(), by: scene.developer("other")).status == 201)
        app.time.advance(by: .seconds(75_600))
        #expect(scene.create(scene.members(), by: developer).status == 201)
        #expect(try app.count("SELECT COUNT(*) FROM applications") == 32)
    }

    @Test func theLimitHoldsForAllAtOnce() throws {
        let (token, body) = (developer.token, JSONValue.object(JSONObject([("application", scene.members())])))
        let statuses = app.race(6, rounds: 2) { client, _, _ in
            client.send(.post, OAuthScene.applications, body, token: token).status
        }.joined()
        #expect(statuses.filter { $0 == 201 }.count == 10 && statuses.filter { $0 == 429 }.count == 2)
        #expect(try app.count("SELECT COUNT(*) FROM applications") == 10)
    }

    // MARK: Changes

    @Test func membersAreChangedOneByOne() throws {
        let clientID = try scene.create(by: developer, ["webhook_url": "https://93.184.216.34/"])
        let changes: [(String, JSONValue)] = [
            ("name", "Chess"), ("redirect_uris", ["https://chess.example/cb"]),
            ("post_logout_redirect_uris", ["https://chess.example/bye", "chess://bye"]),
            ("post_logout_redirect_uris", []), ("allowed_scopes", ["openid", "email"]),
            ("app_link_url", "chess://open"), ("app_link_url", .null), ("webhook_url", "https://93.184.216.35/hook"),
            ("webhook_url", .null), ("webhook_events", ["webhook.test", "user.merged"]), ("webhook_events", .null),
            ("backchannel_logout_uri", "https://93.184.216.34/logout"),
            ("backchannel_logout_uri", .null), ("scope_policy", "alert"), ("notify_anonymous_swap", true),
        ]
        var expected = scene.show(clientID, to: developer).json
        for (name, value) in changes {
            let last = try app.count("SELECT MAX(id) FROM audit_log")
            let answer = scene.patch(clientID, .object(JSONObject([(name, value)])), by: developer)
            guard case .object(let object) = expected else {
                Issue.record("no application is shown: \(expected)")
                return
            }
            expected = .object(object.mapValues { $0 == name ? value : $1 })
            #expect(answer.status == 200 && answer.json == expected)
            #expect(scene.show(clientID, to: developer).json == expected)
            #expect(
                try scene.audited(since: last) == [
                    #"\#(developer.userID) user:\#(developer.userID) application.updated {"client_id":"\#(clientID)","changed":["\#(name)"]}"#
                ])
        }
        try app.expectUnchanged { #expect(scene.patch(clientID, [:], by: developer).json == expected) }
    }

    @Test(
        arguments: [
            ["name": .null], ["redirect_uris": .null], ["allowed_scopes": .null], ["scope_policy": .null],
            ["notify_anonymous_swap": .null], ["post_logout_redirect_uris": .null], ["name": ""], ["redirect_uris": []],
            ["allowed_scopes": ["everything"]],
            ["app_link_url": "data:,"], ["scope_policy": "BLOCK"],
        ] as [JSONValue])
    func whatCannotBeChangedSoIsRefused(_ members: JSONValue) throws {
        let clientID = try scene.create(by: developer)
        try app.expectUnchanged {
            #expect("\(scene.patch(clientID, members, by: developer))" == refusal(400, "invalid_request"))
        }
    }

    @Test(arguments: ["public", "confidential", .null, 1] as [JSONValue])
    func theClientTypeNeverChanges(_ value: JSONValue) throws {
        let clientID = try scene.create(by: developer)
        try app.expectUnchanged {
            let answer = scene.patch(clientID, ["name": "Chess", "client_type": value], by: developer)
            #expect(
                "\(answer)" == (value == 1 ? refusal(400, "invalid_request") : refusal(422, "client_type_immutable")))
        }
    }

    // MARK: Secrets

    /// Whether the secret is accepted at the token endpoint. The answer is then about the code.
    private func opens(_ secret: String, _ clientID: String) -> Bool {
        scene.exchange("x", by: TestClient(id: 0, clientID: clientID, secret: secret, redirectURI: "")).error
            != "invalid_client"
    }

    private func rotate(_ clientID: String, _ body: JSONValue = [:]) -> Answer {
        scene.client.send(
            .post, "\(OAuthScene.applications)/\(clientID)/rotate_secret", body, token: developer.token)
    }

    private func confidential() throws -> (clientID: String, secret: String) {
        let answer = scene.create(scene.members(["client_type": "confidential"]), by: developer)
        try app.change("UPDATE applications SET status = 'active'")
        return (try #require(answer["client_id"]?.string), try #require(answer["client_secret"]?.string))
    }

    @Test func theSecretBeforeWorksForADay() throws {
        let (clientID, first) = try confidential()
        let answer = rotate(clientID)
        #expect(answer.status == 200)
        #expect(scene.names(answer.json) == ["client_id", "client_secret", "previous_secret_expires_at"])
        #expect(answer["previous_secret_expires_at"] == "2026-05-13T07:00:00Z")
        let second = try #require(answer["client_secret"]?.string)
        #expect(second.wholeMatch(of: /logi_secret_[0-9a-f]{64}/) != nil && second != first)
        #expect(opens(first, clientID) && opens(second, clientID))
        #expect(try !app.database.dump().contains(second))
        #expect(
            try scene.audited().last
                == #"\#(developer.userID) user:\#(developer.userID) application.secret_rotated {"client_id":"\#(clientID)","immediate":false}"#
        )
        app.time.advance(by: .milliseconds(86_399_999))
        #expect(opens(first, clientID))
        app.time.advance(by: .milliseconds(1))
        #expect(!opens(first, clientID) && opens(second, clientID))
    }

    @Test func onlyOneSecretBeforeWorks() throws {
        let (clientID, first) = try confidential()
        let second = try #require(rotate(clientID)["client_secret"]?.string)
        let third = try #require(rotate(clientID)["client_secret"]?.string)
        #expect(!opens(first, clientID) && opens(second, clientID) && opens(third, clientID))
    }

    @Test func aStolenSecretStopsAtOnce() throws {
        let (clientID, first) = try confidential()
        let second = try #require(rotate(clientID)["client_secret"]?.string)
        let answer = rotate(clientID, ["immediate": true])
        #expect(answer["previous_secret_expires_at"] == .null)
        #expect(!opens(first, clientID) && !opens(second, clientID))
        #expect(opens(try #require(answer["client_secret"]?.string), clientID))
    }

    @Test func aPublicClientHasNothingToRotate() throws {
        let clientID = try scene.create(by: developer)
        try app.expectUnchanged {
            #expect("\(rotate(clientID))" == refusal(400, "invalid_request"))
            #expect("\(rotate(clientID, ["immediate": "yes"]))" == refusal(400, "invalid_request"))
        }
    }

    // MARK: Webhook keys

    private func addKey(to clientID: String) -> Answer {
        scene.client.send(.post, "\(OAuthScene.applications)/\(clientID)/webhook_keys", token: developer.token)
    }

    @Test func webhookKeysAreAdded() throws {
        let clientID = try scene.create(by: developer)
        let answer = addKey(to: clientID)
        #expect(answer.status == 201 && scene.names(answer.json) == ["webhook_key"])
        let secret = try #require(answer["webhook_key"]?["secret"]?.string)
        #expect(secret.wholeMatch(of: /whsec_[A-Za-z0-9+\/]{43}=/) != nil)
        #expect(try !app.database.dump().contains(secret))
        #expect(try app.count("SELECT COUNT(DISTINCT kid) FROM webhook_keys WHERE retired_at IS NULL") == 2)
    }

    @Test(arguments: [
        ("2026-01-01T00:00:00Z", "whk_2026q1_"), ("2026-03-31T23:59:59Z", "whk_2026q1_"),
        ("2026-04-01T00:00:00Z", "whk_2026q2_"), ("2026-09-30T23:59:59Z", "whk_2026q3_"),
        ("2026-12-31T23:59:59Z", "whk_2026q4_"),
    ])
    func aKeyIsNamedAfterItsQuarter(_ time: String, _ prefix: String) throws {
        let clientID = try scene.create(by: developer)
        let seconds = try app.count("SELECT UNIX_TIMESTAMP(REPLACE(REPLACE(?, 'T', ' '), 'Z', ''))", time)
        app.time.advance(by: .milliseconds(Int64(seconds) * 1000 - app.time.now.milliseconds))
        #expect(addKey(to: clientID)["webhook_key"]?["kid"]?.string?.hasPrefix(prefix) == true)
    }

    @Test func aQuarterHasTwoHundredAndFiftySixNames() throws {
        let clientID = try scene.create(by: developer)
        for _ in 2...256 { #expect(addKey(to: clientID).status == 201) }
        let refused = addKey(to: clientID)
        #expect("\(refused)" == refusal(429, "rate_limited"))
        #expect(refused.header("Retry-After") == "\(49 * 86_400 + 17 * 3600)")
        #expect(try app.count("SELECT COUNT(DISTINCT kid) FROM webhook_keys") == 256)
        app.time.advance(by: .seconds(49 * 86_400 + 17 * 3600))
        #expect(addKey(to: clientID)["webhook_key"]?["kid"]?.string?.hasPrefix("whk_2026q3_") == true)
    }
}
