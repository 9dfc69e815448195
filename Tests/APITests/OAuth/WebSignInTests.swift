import HTTP
import IdentityTokens
import JSON
import MariaDB
import TestSupport
import Testing

@testable import Pages

/// Signing in with Apple or Google in a browser (accounts §2.4): the trip to the provider and back.
@Suite struct WebSignInTests {
    let scene: OAuthScene
    let rp: TestClient

    init() throws {
        scene = try OAuthScene()
        rp = try scene.register(redirectURIs: ["https://shop.example/callback"])
    }

    private var app: TestApp { scene.app }

    /// A browser at the login page.
    private func arriving() -> TestBrowser {
        let browser = TestBrowser(app)
        browser.open(scene.authorizePath(rp))
        return browser
    }

    // MARK: There

    @Test(arguments: Provider.allCases) func theProviderIsAskedForAnIdentityToken(_ provider: Provider) throws {
        let trip = try arriving().setOut(to: provider)
        #expect(trip.address == "https://\(provider.rawValue).example/authorize")
        let expected = [
            "client_id": "com.example.web", "response_mode": "form_post",
            "redirect_uri": "https://id.example/auth/\(provider.rawValue)/web/callback",
            "response_type": provider == .apple ? "code id_token" : "id_token",
            "scope": provider == .apple ? "name email" : "openid email profile",
        ]
        for (name, value) in expected { #expect(trip.parameters[name] == value, "\(name)") }
        #expect(trip.state.wholeMatch(of: /[A-Za-z0-9_-]{43}/) != nil)
        #expect(trip.nonce.wholeMatch(of: /[0-9a-f]{64}/) != nil)
        // Neither is readable where it is stored.
        let dump = try app.database.dump()
        #expect(!dump.contains(trip.state) && !dump.contains(trip.nonce))
    }

    /// One visitor cannot fill the tables, even if clean-up never runs.
    @Test func whoSetsOutForgetsWhatHasExpired() throws {
        try app.change(
            """
            INSERT INTO authorization_requests (digest, browser_digest, parameters, expires_at)
            SELECT UNHEX(SHA2(seq, 256)), UNHEX(SHA2(seq, 256)), '{}', ? FROM seq_1_to_5
            """, app.time.now)
        try app.change(
            """
            INSERT INTO provider_sign_ins (provider, state_digest, browser_digest, expires_at)
            SELECT 'apple', UNHEX(SHA2(seq, 256)), UNHEX(SHA2(seq, 256)), ? FROM seq_1_to_5
            """, app.time.now)
        // Others are deleting these two.
        let db = try app.database.connect()
        try db.executeScript(
            """
            START TRANSACTION; SELECT id FROM authorization_requests ORDER BY expires_at, id LIMIT 2 FOR UPDATE;
            SELECT id FROM provider_sign_ins ORDER BY expires_at, id LIMIT 2 FOR UPDATE
            """)
        _ = try arriving().setOut()
        for rest in [3, 1] {
            #expect(
                try app.count("SELECT COUNT(*) FROM authorization_requests WHERE expires_at <= ?", app.time.now) == rest
            )
            #expect(try app.count("SELECT COUNT(*) FROM provider_sign_ins WHERE expires_at <= ?", app.time.now) == rest)
            if rest == 3 {
                try db.executeScript("ROLLBACK")
                _ = try arriving().setOut()
            }
        }
    }

    @Test func onlyWhatIsConfiguredForBrowsersIsOffered() throws {
        let browser = arriving()
        let handle = query(of: browser.path)["request"] ?? ""
        for path in ["facebook", "Apple", "apple%20"].map({ "/auth/\($0)/web/start?request=\(handle)" }) {
            #expect(browser.send(.get, path).status == 404)
        }
        for path in ["/auth/apple/web/start", "/auth/apple/web/start?request=", "/auth/apple/web/start?request=x"] {
            #expect(browser.send(.get, path).status == 400)
        }
        // The handle is this browser's.
        for other in [TestBrowser(app), arriving()] {
            let answer = other.send(.get, "/auth/apple/web/start?request=\(handle)")
            #expect(answer.status == 400 && answer.header("Location") == nil)
        }
    }

    // MARK: And back

    @Test(arguments: Provider.allCases) func aPersonSignsIn(_ provider: Provider) throws {
        let browser = arriving()
        try browser.signIn(with: provider, as: "ada", email: "ada@example.com")
        #expect(browser.path.hasPrefix("/oauth/consent?"))
        #expect(browser.answer.text.contains("ada@example.com"))
        #expect(
            try app.column("SELECT CONCAT_WS(' ', provider, sub, email) FROM identities")
                == ["\(provider.rawValue) ada ada@example.com"])
        #expect(try app.column("SELECT provider FROM web_sessions") == [provider.rawValue])
        #expect(
            try app.column("SELECT CONCAT_WS(' ', event, provider, ip, platform) FROM login_events")
                == ["web_login \(provider.rawValue) 192.0.2.7 web"])
        #expect(
            try app.column("SELECT action FROM audit_log WHERE user_id IS NOT NULL ORDER BY id") == [
                "user.created", "identity.linked",
            ])
        // No device comes of it, and nothing that a phone could use.
        #expect(try app.count("SELECT COUNT(*) FROM devices") == 0)
        #expect(try app.count("SELECT COUNT(*) FROM paks") == 0)
    }

    @Test func theAccountIsTheOneThatThePhoneSignsInTo() throws {
        let phone = try scene.person("ada", email: "ada@icloud.com")
        let browser = arriving()
        try browser.signIn(as: "ada", email: "ada@icloud.com")
        let byMail = arriving()
        try byMail.signIn(with: .google, as: "ada-g", email: "ada@icloud.com")
        #expect(byMail.path.hasPrefix("/oauth/consent?"))
        #expect(try app.count("SELECT COUNT(*) FROM web_sessions WHERE user_id = ?", phone.userID) == 1)
        // Google does not answer for that address: somebody else, as in the app.
        #expect(try app.count("SELECT COUNT(*) FROM users") == 2)
    }

    @Test func anAnonymousAccountIsPromoted() throws {
        let phone = try scene.client.bootstrap()
        try app.change("INSERT INTO identities (user_id, provider, sub) VALUES (?, 'apple', 'ada')", phone.userID)
        try arriving().signIn(as: "ada")
        #expect(try app.count("SELECT COUNT(*) FROM users WHERE anonymous") == 0)
        #expect(
            try app.column("SELECT CONCAT_WS(' ', event, platform) FROM login_events ORDER BY id")
                == ["bootstrap ios", "promoted web"])
    }

    @Test func appleTellsTheNameOnce() throws {
        let names: [(String, String)] = [
            (#"{"name":{"firstName":"Ada","lastName":"Lovelace"},"email":"x@y.z"}"#, "Ada Lovelace"),
            (#"{"name":{"firstName":"길동","lastName":"홍"}}"#, "홍길동"), (#"{"name":{"firstName":"Ada"}}"#, "Ada"),
            (#"{"name":null}"#, "NULL"), ("{}", "NULL"), ("[1]", "NULL"), ("{", "NULL"),
            (#"{"name":{"firstName":1}}"#, "NULL"),
            (#"{"name":{"firstName":"\#(String(repeating: "x", count: 201))"}}"#, "NULL"),
        ]
        for (number, (user, name)) in names.enumerated() {
            try arriving().signIn(as: "\(number)", email: nil, user: user)
            let stored = try app.column(
                "SELECT u.name FROM users u JOIN identities i ON i.user_id = u.id WHERE i.sub = ?", "\(number)")
            #expect(stored == [name], "\(user)")
        }
        // Google's posts none.
        try arriving().signIn(with: .google, as: "g", email: nil, user: names[0].0)
        let google = try app.column(
            "SELECT u.name FROM users u JOIN identities i ON i.user_id = u.id WHERE i.provider = 'google'")
        #expect(google == ["NULL"])
    }

    @Test func googleTellsTheNameEachTime() throws {
        let names: [([String: JSONValue], String)] = [
            (["given_name": "Ada", "family_name": "Lovelace", "name": "Countess"], "Ada Lovelace"),
            (["given_name": "길동", "family_name": "홍", "name": "길동 홍"], "홍길동"),
            (["given_name": "太郎", "family_name": "山田"], "山田太郎"),
            (["given_name": "はなこ", "family_name": "ヤマダ"], "ヤマダはなこ"), (["name": "홍 길동"], "홍 길동"),
            (["name": "Ada King-Noel"], "Ada King-Noel"), (["given_name": "Ada"], "Ada"),
            (["family_name": "Lovelace"], "Lovelace"), (["given_name": "Ada", "name": "Ada Lovelace"], "Ada Lovelace"),
            (["given_name": " ", "family_name": "Lovelace", "name": "Ada L."], "Ada L."),
            (["given_name": 1, "family_name": ["x"], "name": "Ada"], "Ada"),
            (["given_name": .null, "name": 1], "NULL"),
            (["given_name": "\u{200B}", "family_name": "Lovelace", "name": "Ada L."], "Ada L."),
            (["given_name": "\u{115F}", "family_name": "\u{2060}", "name": "\u{FEFF}"], "NULL"),
            (["name": " "], "NULL"), (["name": .string(String(repeating: "x", count: 201))], "NULL"),
            (["name": "\u{202E}adA\u{0}"], "adA"), ([:], "NULL"),
        ]
        for (number, (claims, name)) in names.enumerated() {
            let browser = arriving()
            let trip = try browser.setOut(to: .google)
            try browser.comeBack(trip, [("id_token", app.token(for: trip, "\(number)", extra: claims))])
            #expect(
                try app.column(
                    "SELECT u.name FROM users u JOIN identities i ON i.user_id = u.id WHERE i.sub = ?", "\(number)")
                    == [name], "\(claims)")
        }
    }

    @Test func googlesNameFillsOnlyABlank() throws {
        func signIn(_ claims: [String: JSONValue]) throws -> [String] {
            let browser = arriving()
            let trip = try browser.setOut(to: .google)
            try browser.comeBack(trip, [("id_token", app.token(for: trip, extra: claims))])
            return try app.column("SELECT name FROM users")
        }
        #expect(try signIn([:]) == ["NULL"])
        #expect(try signIn(["name": "Ada"]) == ["Ada"])
        #expect(try signIn(["name": "Bea"]) == ["Ada"])
        try app.change("UPDATE users SET name = ' '")
        #expect(try signIn(["given_name": "Cleo", "family_name": "Lee"]) == ["Cleo Lee"])
        // Apple's tokens have no names.
        let browser = arriving()
        let trip = try browser.setOut()
        try browser.comeBack(trip, [("id_token", app.token(for: trip, "apple", extra: ["name": "Dora"]))])
        let names =
            "SELECT u.name FROM users u JOIN identities i ON i.user_id = u.id WHERE i.sub = 'apple'" as StaticString
        #expect(try app.column(names) == ["NULL"])
    }

    @Test func whoTurnsBackIsToldSo() throws {
        for (provider, error) in [(Provider.apple, "user_cancelled_authorize"), (.google, "access_denied")] {
            let browser = arriving()
            let trip = try browser.setOut(to: provider)
            try browser.comeBack(trip, [("error", error)])
            #expect(browser.path.hasPrefix("/oauth/login?") && browser.alert == EnglishTexts().notice(.cancelled))
            // And may try again.
            try browser.signIn(with: provider)
            #expect(browser.path.hasPrefix("/oauth/consent?"))
        }
    }

    @Test func whatIsNotBelievedSignsNobodyIn() throws {
        let good = try arriving().setOut()
        let tokens: [(TestTrip) -> String?] = [
            { _ in nil }, { _ in "" }, { _ in "a.b.c" },
            { _ in app.token(for: good) },
            { app.token(for: $0, extra: ["nonce": .null]) },
            { app.token(for: $0, extra: ["aud": "com.example.other"]) },
            { app.token(for: $0, extra: ["iss": "https://evil.example"]) },
            { app.token(for: $0, extra: ["exp": 1]) },
            { app.token(for: $0, "") },
            { trip in
                TestIssuer.token(
                    header: TestIssuer.header(TestIssuer.rsa), claims: app.issuer(.apple).claims(), TestIssuer.otherRSA)
            },
        ]
        for (number, token) in tokens.enumerated() {
            let browser = arriving()
            let trip = try browser.setOut()
            try browser.comeBack(trip, [("id_token", token(trip))])
            #expect(browser.path.hasPrefix("/oauth/login?"), "\(number)")
            #expect(browser.alert == EnglishTexts().notice(.failed), "\(number)")
            // The state was good once.
            let again = trip.post([("id_token", app.token(for: trip))], with: app.client())
            #expect(again.status == 400)
        }
        #expect(try app.count("SELECT COUNT(*) FROM users") == 0)
        #expect(try app.count("SELECT COUNT(*) FROM web_sessions") == 0)
        #expect(app.log.lines.contains { $0.contains("identity token refused") && $0.contains("nonce mismatch") })
        #expect(!app.log.lines.contains { $0.contains("eyJ") })
    }

    @Test func withoutKeysItIsTriedAgainLater() throws {
        let scene = try OAuthScene(TestApp(publishingKeys: false))
        let rp = try scene.register()
        let browser = TestBrowser(scene.app)
        browser.open(scene.authorizePath(rp))
        try browser.signIn()
        #expect(browser.alert == EnglishTexts().notice(.unavailable))
    }

    @Test func aStateIsGoodOnceAndTenMinutes() throws {
        let browser = arriving()
        let trip = try browser.setOut()
        let form: [(String, String?)] = [("id_token", app.token(for: trip))]
        let client = app.client()
        try app.expectUnchanged {
            for state in ["", "x", trip.state.lowercased(), trip.state + "A"] {
                #expect(trip.post(form, with: client, state: state).status == 400, "\(state)")
            }
            // Another provider's answer.
            let other = client.send(.post, "/auth/google/web/callback", bytes: encoded([("state", trip.state)] + form))
            #expect(other.status == 400)
        }
        let finish = try browser.finish(trip, form)
        #expect(trip.post(form, with: client).status == 400)
        // So is the way back.
        try #require(browser.open(finish).status == 200)
        #expect(browser.path.hasPrefix("/oauth/consent?"))
        #expect(browser.open(finish).status == 400)

        let late = try arriving().setOut()
        app.time.advance(by: .seconds(600))
        #expect(late.post([("id_token", app.token(for: late))], with: client).status == 400)
    }

    @Test func theWayBackEndsInTenMinutesToo() throws {
        let browser = arriving()
        let trip = try browser.setOut()
        let finish = try browser.finish(trip, [("id_token", app.token(for: trip))])
        app.time.advance(by: .seconds(600))
        #expect(browser.open(finish).status == 400)
        #expect(try app.count("SELECT COUNT(*) FROM users") == 0)
    }

    @Test func aStateThatIsAnsweredTwiceAtOnceIsAnsweredOnce() throws {
        let trip = try arriving().setOut()
        let token = app.token(for: trip)
        let statuses = app.atOnce(8) { client, _ in trip.post([("id_token", token)], with: client).status }
        #expect(statuses.sorted() == [303] + Array(repeating: 400, count: 7))
    }

    @Test func aWayBackThatIsTakenTwiceAtOnceSignsInOnce() throws {
        let browser = arriving()
        let trip = try browser.setOut()
        let finish = try browser.finish(trip, [("id_token", app.token(for: trip))])
        let cookie = browser.cookies.map { "\($0)=\($1)" }.joined(separator: "; ")
        let statuses = app.atOnce(8) { client, _ in
            client.send(.get, finish, headers: [("cookie", cookie)]).status
        }
        #expect(statuses.sorted() == [303] + Array(repeating: 400, count: 7))
        #expect(try app.count("SELECT COUNT(*) FROM web_sessions") == 1)
        #expect(try app.count("SELECT COUNT(*) FROM users") == 1)
    }

    @Test func onlyTheBrowserThatSetOutIsSignedIn() throws {
        let browser = arriving()
        let trip = try browser.setOut()
        let finish = try browser.finish(trip, [("id_token", app.token(for: trip))])
        let others = [arriving(), TestBrowser(app)]
        try app.expectUnchanged {
            // Another person's browser is made to follow: one that knows this server, and one that does not.
            for other in others {
                let answer = other.open(finish)
                #expect(answer.status == 400 && answer.header("Location") == nil)
                #expect(other.cookies["__Host-merganser_session"] == nil)
            }
            for path in ["", "x"].map({ "/auth/apple/web/finish?h=\($0)" })
                + ["/auth/apple/web/finish", finish.replacing("apple", with: "google")]
            {
                #expect(browser.send(.get, path).status == 400, "\(path)")
            }
        }
        #expect(browser.open(finish).status == 200)
    }

    @Test func aRepeatedFieldIsRefused() throws {
        let trip = try arriving().setOut()
        let token = app.token(for: trip)
        try app.expectUnchanged {
            for form in [[("state", trip.state)], [("id_token", token), ("id_token", token)]] {
                let answer = trip.post(form.map { ($0.0, $0.1) }, with: app.client())
                #expect(answer.status == 400 && answer.header("Content-Type") == "text/html; charset=utf-8")
            }
        }
    }

    // MARK: Refused accounts

    @Test func aDeletedAccountIsTold() throws {
        try arriving().signIn()
        try app.change("UPDATE users SET deleted_at = '2026-05-01', purge_at = '2026-05-31 07:00:00'")
        let browser = arriving()
        try browser.signIn()
        #expect(browser.path.hasPrefix("/oauth/login?"))
        #expect(browser.alert?.contains("May 31, 2026") == true)
        #expect(browser.cookies["__Host-merganser_session"] == nil)
        #expect(try app.column("SELECT event FROM login_events ORDER BY id") == ["web_login", "refused"])
    }

    @Test func anAddressOfAnotherIdentityIsTold() throws {
        try arriving().signIn(as: "one", email: "ada@icloud.com")
        let browser = arriving()
        try browser.signIn(as: "two", email: "ada@icloud.com")
        #expect(browser.alert == EnglishTexts().notice(.linkedToOtherAccount(.apple)))
        #expect(try app.column("SELECT sub FROM identities") == ["one"])
        #expect(try app.column("SELECT event FROM login_events ORDER BY id") == ["web_login", "refused"])
    }

    @Test func theAddressOfTheLoginPageCanSayNothingElse() {
        let browser = arriving()
        let login = browser.path
        for query in [
            "error=<b>", "error=", "error=email_linked_to_other_facebook_account", "error=account_deleted",
            "error=account_deleted&purge_at=x", "error=account_deleted&purge_at=99999999999999999999",
            "error=account_deleted&purge_at=-1",
        ] {
            #expect(browser.open("\(login)&\(query)").status == 200)
            #expect(browser.alert == nil, "\(query)")
        }
    }
}
