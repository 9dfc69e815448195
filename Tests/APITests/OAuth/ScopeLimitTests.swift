import HTTP
import JSON
import TestSupport
import Testing

/// The most scopes that a request may name, and their lengths (accounts §2.2), wherever a client names scopes.
@Suite struct ScopeLimitTests {
    let scene: OAuthScene
    let rp: TestClient

    init() throws {
        scene = try OAuthScene()
        rp = try scene.register(redirectURIs: ["https://shop.example/callback"])
    }

    private var app: TestApp { scene.app }

    /// Above each limit: the number of scopes, the length of one, and the length of all; and far above them.
    private static let tooMuch = [
        (0...100).map { "s:\($0)" }.joined(separator: " "), "openid " + String(repeating: "s", count: 101),
        "openid" + String(repeating: " ", count: 10_100), (0..<7000).map { "s\($0)" }.joined(separator: " "),
    ]

    @Test(arguments: tooMuch.indices, ["block", "log_only", "alert"])
    func areRefusedWhateverThePolicy(_ index: Int, _ policy: String) throws {
        let scope = Self.tooMuch[index]
        try app.change("UPDATE applications SET scope_policy = ?", policy)
        let described = "scope has at most 100 names of at most 100 characters"
        let person = try scene.person()
        let browser = TestBrowser(app).send(.get, scene.authorizePath(rp, ["scope": scope]))
        let parameters = query(of: browser.header("Location") ?? "")
        #expect(browser.status == 302 && parameters["error"] == "invalid_scope" && parameters["state"] == "xyz")
        #expect(parameters["error_description"] == described)

        let device = scene.post("/oauth/device_authorization", [("scope", scope)], as: rp)
        #expect(try device.oauthRefusal() == "400 invalid_scope")
        #expect(device["error_description"]?.string == described)

        let native = scene.authorize(rp, as: person, scope: scope)
        #expect(native.status == 400 && native.error == "invalid_scope")
        let preview = String(decoding: encoded(scene.parameters(rp, scope: scope)), as: UTF8.self)
        #expect(
            scene.client.send(.get, "/api/v1/oauth/authorize/preview?\(preview)", token: person.token).text
                == native.text)

        #expect(
            try app.count(
                """
                SELECT (SELECT COUNT(*) FROM authorization_requests) + (SELECT COUNT(*) FROM device_codes)
                       + (SELECT COUNT(*) FROM grants)
                       + (SELECT COUNT(*) FROM audit_log WHERE action = 'scope.dropped')
                """) == 0)
    }

    @Test func aRefreshIsRefusedAndItsTokenStays() throws {
        let tokens = try scene.signIn(rp, as: try scene.person())
        for scope in Self.tooMuch {
            #expect(try scene.refresh(tokens.refresh, by: rp, scope: scope).oauthRefusal() == "400 invalid_scope")
        }
        #expect(scene.refresh(tokens.refresh, by: rp, scope: "openid").status == 200)
    }

    @Test func anApplicationHasNoMore() throws {
        let developer = try scene.developer()
        func create(_ scopes: [String]) -> Answer {
            scene.create(scene.members(["allowed_scopes": .array(scopes.map(JSONValue.string))]), by: developer)
        }
        #expect("\(create((0...100).map { "s:\($0)" }))" == refusal(400, "invalid_request"))
        #expect("\(create(["s:" + String(repeating: "k", count: 99)]))" == refusal(400, "invalid_request"))
        let created = create((0..<100).map { "s:\($0)" })
        #expect(created.status == 201 && created["allowed_scopes"]?.array?.count == 100)
        let clientID = try #require(created["client_id"]?.string)
        let more = scene.patch(
            clientID, ["allowed_scopes": .array((0...100).map { .string("s:\($0)") })], by: developer)
        #expect("\(more)" == refusal(400, "invalid_request"))
    }

    /// The largest permitted scope parameter makes an access token that still fits a header.
    @Test func allOfThemAreGranted() throws {
        let names = ["openid"] + (1..<100).map { "s:\($0)".padding(toLength: 100) }
        let scope = names.joined(separator: " ")
        let rp = try scene.register(redirectURIs: ["https://shop.example/callback"], scopes: scope)
        let tokens = try scene.signIn(rp, as: try scene.person(), scope: scope)
        #expect(tokens.answer["scope"]?.string == scope)
        #expect(tokens.access.utf8.count < 15_500)
        #expect(scene.userInfo(tokens.access).status == 200)
        let refreshed = scene.refresh(tokens.refresh, by: rp, scope: names.reversed().joined(separator: " "))
        #expect(refreshed.status == 200)
    }

    /// U+212A is canonically equivalent to K.
    @Test func namesAreComparedByteForByte() throws {
        let rp = try scene.register(scopes: "openid shop:K")
        let person = try scene.person()
        #expect(scene.authorize(rp, as: person, scope: "openid shop:K").status == 200)
        #expect(scene.authorize(rp, as: person, scope: "openid shop:\u{212A}").error == "invalid_scope")
        #expect(scene.post("/oauth/device_authorization", [("scope", "shop:\u{212A}")], as: rp).status == 400)
    }

    // MARK: What is told

    @Test func aRefusalNamesAFew() throws {
        let scope = (0..<100).map { "s{\($0)".padding(toLength: 100) }.joined(separator: " ")
        let answer = TestBrowser(app).send(.get, scene.authorizePath(rp, ["scope": scope]))
        let described = try #require(query(of: answer.header("Location") ?? "")["error_description"])
        #expect(described.hasPrefix("not allowed for this client: s{0xxx") && described.hasSuffix(" and 90 more"))
        #expect(described.utf8.count < 700)
    }

    /// RFC 6749 §4.1.2.1: an error description has no quotation marks, backslashes, control characters, or characters
    /// beyond ASCII.
    @Test func aRefusalNamesWhatMayBeNamed() throws {
        func described(_ scope: String) -> String? {
            let answer = TestBrowser(app).send(.get, scene.authorizePath(rp, ["scope": scope]))
            return query(of: answer.header("Location") ?? "")["error_description"]
        }
        #expect(described("openid a\"b c\\d e\u{7F} f\u{E9} g\n phone") == "not allowed for this client: phone")
        #expect(described("\"") == "scope is not valid")
    }

    @Test func theAuditLogTellsOfAFewAnHour() throws {
        try app.change("UPDATE applications SET scope_policy = 'alert'")
        func drop(_ count: Int) throws {
            for _ in 0..<count {
                #expect(scene.post("/oauth/device_authorization", [("scope", "openid phone")], as: rp).status == 200)
            }
        }
        func told() throws -> Int { try app.count("SELECT COUNT(*) FROM audit_log WHERE action = 'scope.dropped'") }
        try drop(25)
        #expect(try told() == 10)
        // Another application's are counted apart, and whoever drops them.
        let other = try scene.register()
        try app.change("UPDATE applications SET scope_policy = 'alert'")
        _ = try scene.code(other, as: try scene.person(), scope: "openid phone")
        #expect(try told() == 11)
        TestBrowser(app).open(scene.authorizePath(rp, ["scope": "openid phone"]))
        _ = try scene.code(rp, as: try scene.person(), scope: "openid phone")
        #expect(try told() == 11)
        // What was left out still shows in token answers.
        let tokens = try scene.signIn(rp, as: try scene.person(), scope: "openid phone")
        #expect(tokens.answer.header("X-Logi-Scope-Drift") == "1")
        app.time.advance(by: .seconds(3600))
        try drop(1)
        #expect(try told() == 12)
    }

    @Test func theAuditLogHasAFewNames() throws {
        try app.change("UPDATE applications SET scope_policy = 'alert'")
        let dropped = (0..<99).map { "s:\($0)".padding(toLength: 100) }.joined(separator: " ")
        #expect(scene.post("/oauth/device_authorization", [("scope", "openid \(dropped)")], as: rp).status == 200)
        let details = try app.column("SELECT details FROM audit_log WHERE action = 'scope.dropped'")
        #expect(details.count == 1 && details[0].utf8.count < 800 && details[0].contains(" and 89 more"))
    }
}

extension String {
    fileprivate func padding(toLength length: Int) -> String {
        self + String(repeating: "x", count: length - utf8.count)
    }
}
