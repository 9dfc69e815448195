import Accounts
import HTTP
import MariaDB
import TestSupport
import Testing

@testable import Pages

/// The pages between an authorize request and its answer (accounts §2.4): cookies, forms, header fields.
@Suite struct ConsentTests {
    let scene: OAuthScene
    let rp: TestClient

    init() throws {
        scene = try OAuthScene()
        rp = try scene.register(redirectURIs: ["https://shop.example:8443/callback"])
    }

    private var app: TestApp { scene.app }

    /// A browser at the consent page.
    private func asked() throws -> TestBrowser {
        let browser = try scene.signedIn()
        browser.open(scene.authorizePath(rp))
        try #require(browser.path.hasPrefix("/oauth/consent?"))
        return browser
    }

    // MARK: The answer

    @Test func allowingGivesACode() throws {
        let browser = try asked()
        try browser.submit("/oauth/consent", ["decision": "allow"])
        let landed = try #require(browser.landed)
        #expect(browser.answer.status == 302 && landed.hasPrefix("https://shop.example:8443/callback?code="))
        #expect(try app.column("SELECT scopes FROM grants") == ["openid profile:basic email"])
        #expect(try app.column("SELECT action FROM audit_log ORDER BY id").last == "grant.created")
    }

    @Test func refusingLeadsBackToo() throws {
        let browser = try asked()
        try browser.submit("/oauth/consent", ["decision": "deny"])
        let landed = try #require(browser.landed)
        #expect(browser.answer.status == 302 && query(of: landed)["error"] == "access_denied")
        #expect(landed.hasSuffix("&state=xyz"))
        #expect(try app.count("SELECT COUNT(*) FROM grants") == 0)
    }

    @Test func thePageNamesWhoAsksForWhatAndWhereItLeads() throws {
        try app.change("UPDATE applications SET name = '<b>Shop & Co</b>' WHERE id = ?", rp.id)
        let text = try asked().answer.text
        #expect(text.contains("&lt;b&gt;Shop &amp; Co&lt;/b&gt;") && !text.contains("<b>Shop"))
        #expect(text.contains("shop.example:8443") && text.contains("bea@example.com"))
    }

    @Test func aDecisionThatIsNoneChangesNothing() throws {
        let browser = try asked()
        let form = try browser.fields(of: "/oauth/consent")
        try app.expectUnchanged {
            for decision in [nil, "", "maybe", "ALLOW"] as [String?] {
                #expect(browser.send(.post, "/oauth/consent", form + [("decision", decision)]).status == 400)
            }
        }
    }

    @Test func allowingTwiceAtOnceMakesOneGrant() throws {
        let browser = try asked()
        let form = encoded(try browser.fields(of: "/oauth/consent") + [("decision", "allow")])
        let cookie = browser.cookies.map { "\($0)=\($1)" }.joined(separator: "; ")
        let codes = app.atOnce(8) { client, _ in
            let answer = client.send(.post, "/oauth/consent", bytes: form, headers: [("cookie", cookie)])
            return query(of: answer.header("Location") ?? "")["code"]
        }
        #expect(Set(codes.compactMap { $0 }).count == 8)
        #expect(try app.count("SELECT COUNT(*) FROM grants") == 1)
    }

    // MARK: Forms

    @Test func aFormThatIsNotThePagesOwnIsRefused() throws {
        let browser = try asked()
        let fields = try browser.fields(of: "/oauth/consent")
        let token = try #require(fields.first { $0.0 == "token" }?.1)
        let handle = try #require(fields.first { $0.0 == "request" }?.1)
        let other = try asked()
        let foreign = try other.fields(of: "/oauth/consent")
        let wrongTokens: [String?] = [
            nil, "", "x", String(token.dropLast()), token + "A", token.lowercased(),
            foreign.first { $0.0 == "token" }?.1,
        ]
        try app.expectUnchanged {
            for wrong in wrongTokens {
                let answer = browser.send(
                    .post, "/oauth/consent",
                    fields.filter { $0.0 != "token" } + [("token", wrong), ("decision", "allow")])
                #expect(answer.status == 403 && answer.header("Location") == nil, "\(wrong ?? "none")")
                #expect(answer.header("Content-Type") == "text/html; charset=utf-8")
            }
            // Another request's handle, and another browser's form.
            for form in [foreign, [("request", nil)] + fields.filter { $0.0 != "request" }] {
                #expect(
                    browser.send(.post, "/oauth/consent", form + [("decision", "allow")]).status == 403)
            }
            #expect(other.send(.post, "/oauth/consent", fields + [("decision", "allow")]).status == 403)
            #expect(TestBrowser(app).send(.post, "/oauth/consent", fields + [("decision", "allow")]).status == 403)
            // Repeated fields.
            #expect(
                browser.send(.post, "/oauth/consent", fields + [("decision", "deny"), ("decision", "allow")]).status
                    == 400)
        }
        #expect(handle.wholeMatch(of: /[A-Za-z0-9_-]{43}/) != nil)
        let dump = try app.database.dump()
        #expect(!dump.contains(handle))
        for cookie in browser.cookies.values { #expect(!dump.contains(cookie)) }
    }

    @Test func aFormOfAnotherOriginIsRefused() throws {
        let browser = try asked()
        let form = try browser.fields(of: "/oauth/consent") + [("decision", "allow")]
        try app.expectUnchanged {
            for origin in [
                "https://evil.example", "http://id.example", "https://id.example:444",
                "https://id.example.evil.example",
                "https://shop.example:8443", "https://id.example/", "",
            ] {
                let answer = browser.send(.post, "/oauth/consent", form, headers: [("origin", origin)])
                #expect(answer.status == 403, "\(origin)")
            }
        }
        // Ours, and what browsers send for a page without referrer.
        for origin in ["https://id.example", "null"] {
            let answer = browser.send(.post, "/oauth/consent", form, headers: [("origin", origin)])
            #expect(answer.status == 302, "\(origin)")
        }
    }

    @Test func whoAllowsIsWhoWasAsked() throws {
        let browser = try asked()
        let form = try browser.fields(of: "/oauth/consent") + [("decision", "allow")]
        // In another tab somebody else signs in.
        browser.open(scene.authorizePath(rp, ["prompt": "login"]))
        try browser.signIn(as: "other", email: "other@example.com")
        let answer = browser.send(.post, "/oauth/consent", form)
        #expect(answer.status == 200 && answer.text.contains("other@example.com"))
        #expect(try app.count("SELECT COUNT(*) FROM grants") == 0)
    }

    @Test func anotherAccountMayBeUsed() throws {
        let browser = try asked()
        try browser.submit("/session/logout")
        #expect(browser.path.hasPrefix("/oauth/login?"))
        #expect(browser.cookies["__Host-merganser_session"] == nil)
        try browser.signIn(as: "other", email: "other@example.com")
        #expect(browser.path.hasPrefix("/oauth/consent?") && browser.answer.text.contains("other@example.com"))
    }

    // MARK: The handle

    @Test func aRequestWaitsFifteenMinutes() throws {
        let browser = try asked()
        let consent = browser.path
        app.time.advance(by: .seconds(899))
        #expect(browser.open(consent).status == 200)
        let form = try browser.fields(of: "/oauth/consent")
        let signOut = try browser.fields(of: "/session/logout")
        app.time.advance(by: .seconds(1))
        #expect(browser.send(.post, "/oauth/consent", form + [("decision", "allow")]).status == 400)
        for path in [consent, consent.replacing("consent", with: "login")] {
            #expect(browser.open(path).status == 400)
        }
        #expect(browser.send(.post, "/session/logout", signOut).header("Location") == "/session/logout")
        #expect(try app.count("SELECT COUNT(*) FROM web_sessions") == 0)
    }

    @Test func aHandleIsOfNoUseInAnotherBrowser() throws {
        let browser = try asked()
        for other in [try scene.signedIn("other"), TestBrowser(app)] {
            for page in ["login", "consent"] {
                let answer = other.open(browser.path.replacing("consent", with: page))
                #expect(answer.status == 400 && !answer.text.contains("Shop"), "\(page)")
            }
        }
    }

    @Test func anApplicationThatIsStoppedMeanwhileGetsNoAnswer() throws {
        for change in [
            "UPDATE applications SET status = 'suspended' WHERE id = ?" as StaticString,
            "UPDATE applications SET status = 'active', redirect_uris = JSON_ARRAY('https://new.example/') WHERE id = ?",
        ] {
            let browser = try asked()
            try app.change(change, rp.id)
            let form = try browser.fields(of: "/oauth/consent")
            for decision in ["allow", "deny", "continue"] {
                let answer = browser.send(.post, "/oauth/consent", form + [("decision", decision)])
                #expect(answer.status == 400 && answer.header("Location") == nil)
            }
            try app.change(
                """
                UPDATE applications SET status = 'active', redirect_uris = JSON_ARRAY('https://shop.example:8443/callback')
                WHERE id = ?
                """, rp.id)
        }
    }

    // MARK: Cookies and header fields

    @Test func cookiesAreTheBrowsersAlone() throws {
        let browser = TestBrowser(app)
        let first = browser.send(.get, scene.authorizePath(rp))
        #expect(
            first.header("Set-Cookie")?.wholeMatch(
                of: /__Host-merganser_browser=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure/) != nil)
        // One browser keeps its cookie, so that what waits in other tabs is not lost.
        #expect(browser.send(.get, scene.authorizePath(rp)).header("Set-Cookie") == nil)

        browser.open(scene.authorizePath(rp))
        let trip = try browser.setOut()
        let finish = browser.send(.get, try browser.finish(trip, [("id_token", app.token(for: trip))]))
        #expect(
            finish.header("Set-Cookie")?.wholeMatch(
                of: /__Host-merganser_session=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure/) != nil)
        browser.open("/session/logout")
        let ended = browser.send(.post, "/session/logout", try browser.fields(of: "/session/logout"))
        #expect(
            ended.header("Set-Cookie")
                == "__Host-merganser_session=; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=0")
    }

    @Test func overPlainHTTPCookiesHaveNoPrefix() throws {
        let scene = try OAuthScene(TestApp(settings: .init(issuer: "http://127.0.0.1:8080")))
        let browser = TestBrowser(scene.app)
        let answer = browser.send(.get, scene.authorizePath(try scene.register()))
        #expect(
            answer.header("Set-Cookie")?.wholeMatch(
                of: /merganser_browser=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Lax/) != nil)
        browser.open(scene.authorizePath(try scene.register()))
        try browser.signIn()
        #expect(browser.cookies.keys.sorted() == ["merganser_browser", "merganser_session"])
    }

    @Test func pagesLetNothingInAndTellNothing() throws {
        let browser = TestBrowser(app)
        func check(_ answer: Answer, formAction: String, sourceLocation: SourceLocation = #_sourceLocation) {
            #expect(
                answer.header("Content-Security-Policy")
                    == "default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'; "
                    + "form-action \(formAction)", sourceLocation: sourceLocation)
            #expect(answer.header("Referrer-Policy") == "no-referrer", sourceLocation: sourceLocation)
            #expect(answer.header("X-Content-Type-Options") == "nosniff", sourceLocation: sourceLocation)
            #expect(answer.header("Cache-Control") == "no-store", sourceLocation: sourceLocation)
        }
        check(browser.open(scene.authorizePath(rp)), formAction: "'self' https://shop.example:8443")
        try browser.signIn()
        check(browser.answer, formAction: "'self' https://shop.example:8443")
        let native = try scene.register("App", redirectURIs: ["com.example.app:/cb"])
        check(browser.open(scene.authorizePath(native)), formAction: "'self' com.example.app:")
        check(browser.open("/session/logout"), formAction: "'self'")
        check(browser.send(.get, "/oauth/consent"), formAction: "'self'")
        check(browser.send(.get, scene.authorizePath(rp, ["client_id": "x"])), formAction: "'self'")
        check(browser.send(.post, "/oauth/consent", [("token", "x"), ("request", "y")]), formAction: "'self'")
    }

    @Test func pagesSpeakTheReadersLanguage() throws {
        let browser = try asked()
        let korean = browser.send(.get, browser.path, headers: [("accept-language", "ko-KR,ko;q=0.9,en;q=0.8")])
        #expect(korean.text.contains("<html lang=\"ko\"") && korean.header("Content-Language") == "ko")
    }

    @Test func withoutADatabaseThereIsAPageToo() throws {
        var options = app.database.options
        options.address = .unixSocket("/nonexistent")
        let down = try TestApp(database: app.database, options: options)
        let answer = TestBrowser(down).send(.get, scene.authorizePath(rp))
        #expect(answer.status == 503 && answer.header("Retry-After") == "1")
        #expect(answer.text.contains("<h1>\(EnglishTexts().heading(.unavailable))</h1>"))
        let json = TestBrowser(down).send(.get, scene.authorizePath(rp), headers: [("accept", "application/json")])
        #expect(json.error == "temporarily_unavailable")
    }
}
