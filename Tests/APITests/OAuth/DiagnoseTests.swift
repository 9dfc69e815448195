import HTTP
import JSON
import MariaDB
import TestSupport
import Testing

/// `/diagnose` (accounts §2.12).
@Suite struct DiagnoseTests {
    let scene: OAuthScene
    let rp: TestClient

    init() throws {
        scene = try OAuthScene()
        rp = try scene.register(redirectURIs: ["com.example.shop://callback", "https://shop.example/cb"])
    }

    private var app: TestApp { scene.app }
    private static let ids = [
        "scheme_underscore", "idp_host_conflict", "redirect_unregistered", "redirect_characters", "openid_missing",
        "pkce_missing",
    ]

    private func ask(_ parameters: [(String, String?)]) -> Answer {
        scene.client.send(
            .get, "/diagnose?" + String(decoding: encoded(parameters), as: UTF8.self),
            headers: [("accept", "application/json")])
    }

    /// The status of each check, by its id.
    private func statuses(_ answer: Answer) -> [String: String] {
        Dictionary(
            uniqueKeysWithValues: (answer["checks"]?.array ?? []).map { check in
                (check["id"]?.string ?? "", check["status"]?.string ?? "")
            })
    }

    private func status(of id: String, _ parameters: [(String, String?)]) -> String? { statuses(ask(parameters))[id] }

    // MARK: The answer

    @Test func aSoundIntegrationIsInOrder() throws {
        let answer = ask([
            ("client_id", rp.clientID), ("redirect_uri", rp.redirectURI), ("scope", "openid email"),
            ("code_challenge_method", "S256"),
        ])
        #expect(answer.status == 200)
        #expect(answer.header("Content-Type") == "application/json")
        #expect(scene.names(answer.json) == ["application", "checks", "server"])
        #expect(answer["application"] == "active")
        let checks = try #require(answer["checks"]?.array)
        #expect(checks.map { $0["id"]?.string } == Self.ids)
        for check in checks {
            #expect(scene.names(check) == ["id", "status", "message"])
            #expect(check["status"] == "ok")
        }
        #expect(answer["server"] == ["database": "ok", "signing_key": "ok", "migrations": "ok"])
        #expect(!answer.text.contains("shop.example"))
    }

    @Test func applicationsAreActiveUnknownOrInactive() throws {
        #expect(ask([("client_id", "logi_none")])["application"] == "unknown")
        #expect(ask([])["application"] == "unknown")
        for status in ["pending", "suspended"] {
            try app.change("UPDATE applications SET status = ? WHERE id = ?", status, rp.id)
            #expect(ask([("client_id", rp.clientID)])["application"] == "inactive")
        }
    }

    @Test func whatIsNotAskedIsNotKnown() {
        let unknown = Dictionary(uniqueKeysWithValues: Self.ids.map { ($0, "unknown") })
        #expect(statuses(ask([])) == unknown)
        #expect(statuses(ask([("client_id", rp.clientID), ("redirect_uri", ""), ("scope", "")])) == unknown)
    }

    // MARK: The checks

    @Test(
        arguments: [
            ("com.example.shop://callback", [:]), ("https://shop.example/cb", [:]),
            ("https://shop.example/cb/", ["redirect_unregistered": "fault"]),
            ("COM.example.shop://callback", ["redirect_unregistered": "fault"]),
            ("my_app://cb", ["scheme_underscore": "fault", "redirect_unregistered": "fault"]),
            ("myapp://my_host/cb", ["redirect_unregistered": "fault"]),
            ("https://id.example/cb", ["idp_host_conflict": "fault", "redirect_unregistered": "fault"]),
            ("https://ID.example:8443?x", ["idp_host_conflict": "fault", "redirect_unregistered": "fault"]),
            ("https://id.example./cb", ["idp_host_conflict": "fault", "redirect_unregistered": "fault"]),
            ("https://id%2Eexample:0443/cb", ["idp_host_conflict": "fault", "redirect_unregistered": "fault"]),
            ("HTTPS:/id.example/cb", ["idp_host_conflict": "fault", "redirect_unregistered": "fault"]),
            (
                "https:\\\\id.example\\cb",
                ["idp_host_conflict": "fault", "redirect_characters": "fault", "redirect_unregistered": "fault"]
            ),
            ("https://a@id.example/cb", ["idp_host_conflict": "fault", "redirect_unregistered": "fault"]),
            ("http://id.example/cb", ["redirect_unregistered": "fault"]),
            ("https://id.example.evil.example/cb", ["redirect_unregistered": "fault"]),
            ("https://shop.example/a+b", ["redirect_characters": "fault", "redirect_unregistered": "fault"]),
            ("https://shop.example/a&b=*", ["redirect_characters": "fault", "redirect_unregistered": "fault"]),
            (
                "my_app://é ",
                ["scheme_underscore": "fault", "redirect_characters": "fault", "redirect_unregistered": "fault"]
            ),
            (
                "https://id.example/a+b",
                ["idp_host_conflict": "fault", "redirect_characters": "fault", "redirect_unregistered": "fault"]
            ),
            ("nothing", ["redirect_unregistered": "fault"]),
        ] as [(String, [String: String])])
    func redirectURIsAreChecked(_ uri: String, _ faults: [String: String]) {
        let found = statuses(ask([("client_id", rp.clientID), ("redirect_uri", uri)]))
            .filter { $0.value == "fault" }
        #expect(found == faults)
        // Of an unknown application no redirect URI is known.
        #expect(status(of: "redirect_unregistered", [("redirect_uri", uri)]) == "unknown")
    }

    @Test func theScopeIsChecked() throws {
        let client = ("client_id", Optional(rp.clientID))
        #expect(status(of: "openid_missing", [client, ("scope", "email openid")]) == "ok")
        #expect(status(of: "openid_missing", [client, ("scope", "email")]) == "fault")
        #expect(status(of: "openid_missing", [client, ("scope", "openid2")]) == "fault")
        try app.change("UPDATE applications SET allowed_scopes = 'email' WHERE id = ?", rp.id)
        #expect(status(of: "openid_missing", [client, ("scope", "email openid")]) == "fault")
        #expect(status(of: "openid_missing", [client]) == "fault")
    }

    @Test func theChallengeMethodIsChecked() {
        let client = ("client_id", Optional(rp.clientID))
        #expect(status(of: "pkce_missing", [client, ("code_challenge_method", "S256")]) == "ok")
        #expect(status(of: "pkce_missing", [client, ("code_challenge_method", "plain")]) == "fault")
        #expect(status(of: "pkce_missing", [client, ("code_challenge_method", "s256")]) == "fault")
    }

    @Test func aWholeURLIsTakenApart() {
        func url(_ parameters: [(String, String?)]) -> String {
            "https://id.example/oauth/authorize?\(String(decoding: encoded(parameters), as: UTF8.self))#x"
        }
        let parameters = scene.parameters(rp).map { ($0.0, Optional($0.1)) }
        let sound = ask([("url", url(parameters)), ("client_id", "logi_other")])
        #expect(sound["application"] == "active")
        #expect(Set(statuses(sound).values) == ["ok"])
        for (left, id) in [
            ("scope", "openid_missing"), ("code_challenge", "pkce_missing"), ("code_challenge_method", "pkce_missing"),
        ] {
            let answer = ask([("url", url(parameters.filter { $0.0 != left }))])
            #expect(statuses(answer).filter { $0.value != "ok" } == [id: "fault"])
        }
        #expect(ask([("url", "nonsense")])["application"] == "unknown")
    }

    // MARK: Faults seen

    private func authorize(
        without left: String, scope: String = "openid email", with client: Client? = nil
    ) -> Answer {
        let members = scene.parameters(rp, scope: scope).filter { $0.0 != left }.map { ($0.0, JSONValue.string($0.1)) }
        let browser = (client ?? scene.client).send(
            .get, "/oauth/authorize?" + String(decoding: encoded(members.map { ($0.0, $0.1.string) }), as: UTF8.self))
        #expect(browser.status < 400)
        return browser
    }

    @Test func faultsSeenAreToldForADay() throws {
        #expect(status(of: "pkce_missing", [("client_id", rp.clientID)]) == "unknown")
        _ = authorize(without: "code_challenge")
        _ = authorize(without: "", scope: "email")
        let client = [("client_id", Optional(rp.clientID))]
        #expect(status(of: "pkce_missing", client) == "fault")
        #expect(status(of: "openid_missing", client) == "fault")
        #expect(status(of: "pkce_missing", client + [("code_challenge_method", "S256")]) == "ok")
        #expect(status(of: "openid_missing", client + [("scope", "openid")]) == "ok")
        #expect(status(of: "pkce_missing", [("client_id", try scene.register("Other").clientID)]) == "unknown")
        app.time.advance(by: .seconds(86_400))
        #expect(status(of: "pkce_missing", client) == "unknown")
        #expect(status(of: "openid_missing", client) == "unknown")
    }

    @Test func aFaultIsWrittenOnceAMinute() throws {
        func seen() throws -> [String] {
            try app.column("SELECT CONCAT(fault, ' ', last_seen_at) FROM application_faults ORDER BY fault")
        }
        for _ in 1...3 { _ = authorize(without: "code_challenge_method") }
        #expect(try seen() == ["pkce_missing 2026-05-12 07:00:00.000"])
        app.time.advance(by: .milliseconds(59_999))
        _ = authorize(without: "code_challenge_method")
        #expect(try seen() == ["pkce_missing 2026-05-12 07:00:00.000"])
        app.time.advance(by: .milliseconds(1))
        _ = authorize(without: "code_challenge_method")
        #expect(try seen() == ["pkce_missing 2026-05-12 07:01:00.000"])
    }

    @Test func whatCannotBeNotedFailsNothing() throws {
        let connection = try app.database.connect()
        try connection.execute("START TRANSACTION")
        try connection.execute(
            "INSERT INTO application_faults VALUES (?, 'pkce_missing', '2026-05-12 06:00:00')", rp.id)
        let answer = try app.withPatientClient { authorize(without: "code_challenge", with: $0) }
        #expect(answer.status == 302)
        try connection.execute("COMMIT")
        try app.change("RENAME TABLE application_faults TO gone")
        try app.change("CREATE TABLE application_faults (application_id BIGINT, fault TEXT, last_seen_at DATETIME(3))")
        try app.change("ALTER TABLE application_faults ADD CONSTRAINT full CHECK (application_id < 0)")
        #expect(authorize(without: "code_challenge").status == 302)
    }

    // MARK: Scopes that were dropped

    @Test func aDroppedScopeIsToldWithTokensForAWeek() throws {
        try app.change("UPDATE applications SET scope_policy = 'log_only' WHERE id = ?", rp.id)
        let person = try scene.person()
        var tokens = try scene.signIn(rp, as: person)
        #expect(tokens.answer.header("X-Logi-Scope-Drift") == nil)
        tokens = try scene.signIn(rp, as: person, scope: "openid phone")
        #expect(tokens.answer.header("X-Logi-Scope-Drift") == "1")
        #expect(tokens.answer["scope"] == "openid")
        tokens = try Tokens(scene.refresh(tokens.refresh, by: rp))
        #expect(tokens.answer.header("X-Logi-Scope-Drift") == "1")
        #expect(scene.refresh("unknown", by: rp).header("X-Logi-Scope-Drift") == nil)
        app.time.advance(by: .seconds(7 * 86_400))
        tokens = try Tokens(scene.refresh(tokens.refresh, by: rp))
        #expect(tokens.answer.header("X-Logi-Scope-Drift") == nil)
        #expect(try scene.audited() == [])
    }

    @Test func thePolicyAlertTellsTheAuditLog() throws {
        try app.change("UPDATE applications SET scope_policy = 'alert' WHERE id = ?", rp.id)
        _ = try scene.code(rp, as: try scene.person(), scope: "openid phone shop:member")
        let row = #"- application:\#(rp.id) scope.dropped {"client_id":"\#(rp.clientID)","scopes":"phone shop:member"}"#
        #expect(try scene.audited() == [row])
        _ = authorize(without: "", scope: "openid phone shop:member")
        #expect(try scene.audited() == [row, row])
    }

    // MARK: The server

    @Test func withoutASigningKeyItSaysSo() throws {
        let scene = try OAuthScene(TestApp(), signingKey: false)
        let answer = scene.client.send(.get, "/diagnose?format=json")
        #expect(answer["server"] == ["database": "ok", "signing_key": "fault", "migrations": "ok"])
    }

    @Test func withoutADatabaseItStillAnswers() throws {
        var options = app.database.options
        options.address = .unixSocket("/nonexistent/socket")
        let client = try TestApp(database: app.database, options: options).client()
        let answer = client.send(
            .get, "/diagnose?format=json&client_id=\(rp.clientID)&redirect_uri=my_app://cb")
        #expect(answer.status == 200)
        #expect(answer["application"] == "unknown")
        #expect(statuses(answer)["scheme_underscore"] == "fault")
        #expect(answer["server"] == ["database": "fault", "signing_key": "unknown", "migrations": "unknown"])
    }

    @Test func aSchemaThatDoesNotFitIsSeen() throws {
        #expect(ask([])["server"]?["migrations"] == "ok")
        try app.change("DELETE FROM schema_migrations ORDER BY number DESC LIMIT 1")
        let answer = ask([])
        #expect(answer.status == 200)
        #expect(answer["server"]?["database"] == "ok" && answer["server"]?["migrations"] == "fault")
    }

    // MARK: The page

    @Test func peopleSeeAPage() throws {
        let query = String(
            decoding: encoded([("client_id", rp.clientID), ("redirect_uri", "my_app://<b>"), ("scope", "openid")]),
            as: UTF8.self)
        for accept in ["text/html", "text/html,application/xhtml+xml,*/*;q=0.8", "*/*"] {
            let answer = scene.client.send(.get, "/diagnose?\(query)", headers: [("accept", accept)])
            #expect(answer.status == 200)
            #expect(answer.header("Content-Type") == "text/html; charset=utf-8")
            #expect(answer.header("Content-Security-Policy")?.contains("default-src 'none'") == true)
            #expect(answer.text.contains("my_app://&lt;b&gt;") && !answer.text.contains("<b>"))
            #expect(answer.text.contains(#"class="fault""#) && answer.text.contains(#"class="ok""#))
            #expect(!answer.text.contains("shop.example"))
        }
        let form = scene.client.send(.get, "/diagnose", headers: [("accept", "text/html")])
        #expect(form.status == 200 && form.text.contains(#"name="url""#))
        let json = scene.client.send(.get, "/diagnose?format=json", headers: [("accept", "text/html")])
        #expect(json.header("Content-Type") == "application/json")
    }
}
