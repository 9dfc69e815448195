import Accounts
import HTTP
import IdentityTokens
import JSON
import TestSupport
import Testing

@testable import API
@testable import Pages

/// What people see and change of their own account in a browser (accounts §4.8).
@Suite struct AccountPageTests {
    let scene: OAuthScene

    init() throws { scene = try OAuthScene() }

    private var app: TestApp { scene.app }
    private let texts = EnglishTexts()
    private let cookie = "__Host-merganser_session"

    /// Bea, who signs in with Apple and Google, with her phone, her agent and her browser.
    private func bea() throws -> (phone: Phone, browser: TestBrowser) {
        let phone = try scene.person()
        let linked = scene.client.send(
            .post, "/api/v1/me/connected_identities",
            app.proof("bea-google", of: .google, email: "bea@gmail.com").adding(["provider": "google"]),
            token: phone.token)
        try #require(linked.status == 200, "\(linked)")
        _ = try scene.client.agent(of: phone, in: app)
        return (phone, try scene.signedIn())
    }

    private func isSignedIn(_ phone: Phone) -> Bool {
        scene.client.send(.get, "/api/v1/me", token: phone.token).status == 200
    }

    private func says(_ browser: TestBrowser, _ notice: AccountPage.Notice) -> Bool {
        browser.path == "/account?notice=\(notice.rawValue)" && browser.answer.status == 200
            && browser.answer.text.contains(texts.account.notice(notice))
    }

    // MARK: Seeing it

    @Test func whoeverIsNotSignedInSignsInFirst() throws {
        let browser = TestBrowser(app)
        browser.open("/account")
        #expect(browser.path.hasPrefix("/oauth/login?") && browser.heading == texts.signIn)
        try browser.signIn()
        #expect(browser.path == "/account" && browser.heading == texts.account.title)
        #expect(browser.answer.text.contains("bea@example.com"))
    }

    @Test func itShowsWhatBelongsToTheAccount() throws {
        let (phone, browser) = try bea()
        let shop = try scene.register("Shop & Söhne")
        _ = try scene.signIn(shop, as: phone)
        // Nobody else's.
        _ = try scene.signIn(try scene.register("Elsewhere"), as: try scene.person("ada", email: "ada@example.com"))
        let page = browser.open("/account")
        for text in [
            "bea@example.com", "bea@gmail.com", "Shop &amp; Söhne", texts.scope("email"),
            texts.account.platform("ios"),
        ] {
            #expect(page.text.contains(text), "\(text)")
        }
        #expect(!page.text.contains("Elsewhere") && !page.text.contains("ada@example.com"))
        let device = phone.deviceID
        #expect(
            Set(browser.links).isSuperset(of: [
                "/session/logout", "/account/methods/apple/remove", "/account/methods/google/remove",
                "/account/devices/\(device)/remove", "/account/apps/\(shop.clientID)/disconnect", "/account/history",
                "/account/agents", "/account/merge", "/account/export", "/account/delete",
            ]))
        #expect(page.header("Cache-Control") == "no-store")
    }

    @Test func itSpeaksKorean() throws {
        let browser = try scene.signedIn()
        let page = browser.send(.get, "/account", headers: [("accept-language", "ko")])
        #expect(page.text.contains("<h1>\(KoreanTexts().account.title)</h1>"))
    }

    @Test func severalGrantsForOneAppAreOneLine() throws {
        let phone = try scene.person()
        let shop = try scene.register()
        _ = try scene.signIn(shop, as: phone, scope: "openid")
        let other = try scene.person("other", email: nil)
        _ = try scene.signIn(shop, as: other, scope: "openid email")
        try scene.merge(other.userID, into: phone.userID)
        let browser = try scene.signedIn()
        browser.open("/account")
        let path = "/account/apps/\(shop.clientID)/disconnect"
        #expect(browser.links.filter { $0 == path }.count == 1)
        #expect(browser.answer.text.contains(texts.scope("email")))
        browser.open(path)
        try browser.submit(path)
        #expect(says(browser, .appDisconnected))
        #expect(try app.count("SELECT COUNT(*) FROM grants WHERE revoked_at IS NULL") == 0)
    }

    // MARK: Changing it

    @Test func aDeviceIsRemoved() throws {
        let (phone, browser) = try bea()
        let device = phone.deviceID
        let path = "/account/devices/\(device)/remove"
        browser.open(path)
        #expect(browser.answer.text.contains(texts.account.removeDeviceEffect) && isSignedIn(phone))
        try browser.submit(path)
        #expect(says(browser, .deviceRemoved))
        #expect(!isSignedIn(phone))
        #expect(try app.count("SELECT COUNT(*) FROM devices") == 0)
        let actor = "user:\(phone.userID)"
        let entries = try app.column(
            """
            SELECT CONCAT_WS(' ', action, JSON_VALUE(details, '$.reason'), JSON_VALUE(details, '$.device_id')) FROM audit_log
            WHERE actor = ? ORDER BY id DESC LIMIT 2
            """, actor)
        #expect(entries == ["device.removed \(device)", "pak.revoked device_removed"])
        // A second tab.
        browser.open(path)
        #expect(says(browser, .gone))
        // The device can begin anew.
        let fresh = try Phone(
            scene.client.send(.post, "/api/v1/devices", ["device_uuid": .string(phone.uuid), "platform": "ios"]))
        #expect(fresh.userID != phone.userID)
    }

    @Test func onlyTheOwnersDevice() throws {
        let (_, browser) = try bea()
        let ada = try scene.person("ada", email: "ada@example.com")
        let path = "/account/devices/\(ada.deviceID)/remove"
        browser.open(path)
        #expect(says(browser, .gone))
        for id in ["0", "-1", "x", "99999999999999999999"] {
            browser.open("/account/devices/\(id)/remove")
            #expect(says(browser, .gone), "\(id)")
        }
        #expect(isSignedIn(ada))
    }

    @Test func aWayToSignInIsRemoved() throws {
        let (_, browser) = try bea()
        let path = "/account/methods/google/remove"
        browser.open(path)
        #expect(browser.answer.text.contains("bea@gmail.com"))
        try browser.submit(path)
        #expect(says(browser, .methodRemoved))
        #expect(try app.column("SELECT provider FROM identities") == ["apple"])
        // The last one stays.
        #expect(!browser.links.contains("/account/methods/apple/remove"))
        browser.open("/account/methods/apple/remove")
        #expect(says(browser, .lastMethod) && browser.alert == texts.account.notice(.lastMethod))
        for provider in ["google", "facebook", "Apple"] {
            browser.open("/account/methods/\(provider)/remove")
            #expect(says(browser, .gone), "\(provider)")
        }
    }

    @Test func ofTwoTabsOneRemovesTheSecondLastWay() throws {
        let (_, browser) = try bea()
        let forms = try ["apple", "google"].map { provider in
            let path = "/account/methods/\(provider)/remove"
            browser.open(path)
            return (path, encoded(try browser.fields(of: path)))
        }
        let header = browser.cookies.map { "\($0)=\($1)" }.joined(separator: "; ")
        let locations = app.atOnce(2) { client, number in
            client.send(.post, forms[number].0, bytes: forms[number].1, headers: [("cookie", header)]).header(
                "Location")
        }
        #expect(Set(locations) == ["/account?notice=method_removed", "/account?notice=last_method"])
        #expect(try app.count("SELECT COUNT(*) FROM identities") == 1)
    }

    @Test func anAppIsDisconnected() throws {
        let (phone, browser) = try bea()
        let shop = try scene.register()
        let tokens = try scene.signIn(shop, as: phone)
        let path = "/account/apps/\(shop.clientID)/disconnect"
        browser.open(path)
        #expect(browser.heading == "Disconnect <bdi class=\"name\">Shop</bdi>?")
        try browser.submit(path)
        #expect(says(browser, .appDisconnected))
        #expect(scene.refresh(tokens.refresh, by: shop).error == "invalid_grant")
        #expect(try app.column("SELECT event_type FROM webhook_outbox ORDER BY id").last == "user.grants_revoked")
        browser.open(path)
        #expect(says(browser, .gone))
    }

    @Test func aFormThatComesTooLateChangesNothing() throws {
        let (_, browser) = try bea()
        let path = "/account/methods/google/remove"
        browser.open(path)
        let form = try browser.fields(of: path)
        try browser.submit(path)
        try app.expectUnchanged {
            #expect(browser.send(.post, path, form).header("Location") == "/account?notice=gone")
        }
    }

    // MARK: Who may

    /// Of the account's pages and forms, by the route table.
    private var routes: [Route] { Routes.oauth.filter { if case .webSession = $0.requirement { true } else { false } } }

    private func path(of route: Route, _ phone: Phone, _ client: TestClient) throws -> String {
        let id =
            route.pattern.hasPrefix("/account/agents/")
            ? try app.column("SELECT public_id FROM agents WHERE user_id = ?", phone.userID)[0] : "\(phone.deviceID)"
        return route.pattern.replacing("{provider}", with: "google").replacing("{id}", with: id)
            .replacing("{client_id}", with: client.clientID)
    }

    @Test func withoutASessionNothingIsShownOrDone() throws {
        let (phone, browser) = try bea()
        let shop = try scene.register()
        _ = try scene.signIn(shop, as: phone)
        let ended = try #require(browser.cookies[cookie])
        browser.open("/session/logout")
        try browser.submit("/session/logout")
        let strangers: [[(name: String, value: String)]] = [
            [], [("cookie", "\(cookie)=\(ended)")], [("cookie", "\(cookie)=x")],
            [("authorization", "Bearer \(phone.token)")],
        ]
        for route in routes {
            for headers in strangers {
                let answer = TestBrowser(app).send(route.method, try path(of: route, phone, shop), headers: headers)
                #expect(answer.status == 303, "\(route.pattern)")
                #expect(answer.header("Location")?.hasPrefix("/oauth/login?request=") == true, "\(route.pattern)")
            }
        }
        #expect(isSignedIn(phone))
        #expect(try app.count("SELECT COUNT(*) FROM identities") == 2)
        #expect(try app.count("SELECT COUNT(*) FROM grants WHERE revoked_at IS NULL") == 1)
        #expect(try app.count("SELECT COUNT(*) FROM agents WHERE revoked_at IS NULL") == 1)
    }

    @Test func aFormThatIsNotThePagesOwnIsRefused() throws {
        let (phone, browser) = try bea()
        let shop = try scene.register()
        _ = try scene.signIn(shop, as: phone)
        let other = try scene.signedIn()
        other.open("/account/methods/google/remove")
        let foreign = try other.fields(of: "/account/methods/google/remove")
        browser.open("/account/apps/\(shop.clientID)/disconnect")
        let elsewhere = try browser.fields(of: "/account/apps/\(shop.clientID)/disconnect")
        try app.expectUnchanged {
            for route in routes where route.method == .post {
                let path = try path(of: route, phone, shop)
                browser.open(path)
                // What a trip brings back has tests of its own (`AccountTripTests`).
                let own = browser.path == path ? try browser.fields(of: path) : []
                var forgeries = [[], foreign, own.filter { $0.0 != "token" }, own + own]
                if !path.hasPrefix("/account/apps/") { forgeries.append(elsewhere) }
                for form in forgeries {
                    let status = browser.send(.post, path, form).status
                    #expect([400, 403].contains(status), "\(path) \(form)")
                }
                let answer = browser.send(.post, path, own, headers: [("origin", "https://evil.example")])
                #expect(answer.status == 403, "\(path)")
            }
        }
    }

    /// Another tab signed in with another account: each page asks that user.
    @Test func whoeverWasAskedDecides() throws {
        let (phone, browser) = try bea()
        let shop = try scene.register()
        _ = try scene.signIn(shop, as: phone)
        let ada = try scene.person("ada", email: "ada@example.com")
        _ = try scene.signIn(shop, as: ada)
        var asked: [(path: String, form: [(String, String?)])] = []
        // What a trip brings back has tests of its own (`AccountTripTests`).
        for route in routes where route.method == .post && !route.pattern.hasSuffix("/{provider}") {
            let path = try path(of: route, phone, shop)
            browser.open(path)
            asked.append((path, try browser.fields(of: path) + [("word", "delete")]))
        }
        browser.open(scene.authorizePath(shop, ["prompt": "login"]))
        try browser.signIn(as: "ada", email: "ada@example.com")
        #expect(asked.count == 6)
        try app.expectUnchanged {
            for (path, form) in asked {
                let answer = browser.send(.post, path, form)
                #expect(answer.status == 303 && answer.header("Location") == path, "\(path)")
            }
        }
        #expect(browser.open("/account/apps/\(shop.clientID)/disconnect").text.contains("ada@example.com"))
        #expect(browser.open("/account/delete").text.contains("ada@example.com"))
    }

    @Test func somethingsNeedARecentSignIn() throws {
        let (phone, browser) = try bea()
        let device = "/account/devices/\(phone.deviceID)/remove"
        let method = "/account/methods/google/remove"
        app.time.advance(by: .seconds(900))
        for path in [device, method] {
            browser.open(path)
            #expect(browser.path == path)
        }
        let form = try browser.fields(of: method)
        app.time.advance(by: .seconds(1))
        // What can be taken back does not.
        #expect(browser.open("/account").status == 200 && browser.path == "/account")
        for path in [device, method] {
            browser.open(path)
            #expect(browser.path.hasPrefix("/oauth/login?"))
            // The session does not count, so that nobody goes on without signing in.
            #expect(browser.heading == texts.signIn)
        }
        let late = browser.send(.post, method, form)
        #expect(late.header("Location")?.hasPrefix("/oauth/login?") == true)
        #expect(try app.count("SELECT COUNT(*) FROM identities") == 2)
        // Back from the provider the page asks again.
        browser.open(late.header("Location") ?? "")
        try browser.signIn()
        #expect(browser.path == method)
        try browser.submit(method)
        #expect(says(browser, .methodRemoved))
    }

    /// By the route table: what is added needs it unless it is listed here.
    @Test func whatCannotBeTakenBackNeedsARecentSignIn() throws {
        let (phone, browser) = try bea()
        let shop = try scene.register()
        _ = try scene.signIn(shop, as: phone)
        let own = try #require(browser.cookies["__Host-merganser_browser"].flatMap { Browser(cookie: $0) })
        app.time.advance(by: .seconds(901))
        let others = [
            "/account", "/account/apps/{client_id}/disconnect", "/account/history", "/account/agents",
            "/account/agents/{id}/revoke", "/account/approvals",
        ]
        for route in routes where !others.contains(route.pattern) {
            let path = try path(of: route, phone, shop)
            let form = [
                ("token", Optional(app.service.accounts.formToken(for: path, in: own))), ("account", "\(phone.userID)"),
            ]
            let answer = browser.send(route.method, path, route.method == .post ? form : [])
            #expect(answer.header("Location")?.hasPrefix("/oauth/login?request=") == true, "\(route.pattern)")
        }
    }

    @Test func theWayBackIsThisServersOwn() throws {
        for (path, back) in [
            ("/account?notice=gone", "/account?notice=gone"),
            ("/account/apps/a b\r\nx: y/disconnect", "/account/apps/a%20b%0D%0Ax%3A%20y/disconnect"),
            ("/account/apps/%2F%2Fevil.example/disconnect", "/account/apps/%252F%252Fevil.example/disconnect"),
            ("/account/methods/e\u{301}/remove", "/account/methods/e%CC%81/remove"),
            ("/account?x=\r\ny: z", "/account"),
        ] {
            let browser = TestBrowser(app)
            let login = try #require(browser.send(.get, path).header("Location"))
            browser.open(login)
            let trip = try browser.setOut()
            let finish = try browser.finish(trip, [("id_token", app.token(for: trip))])
            #expect(browser.send(.get, finish).header("Location") == back)
        }
    }

    /// If the browser has lost the other cookie, a page sets it again, so that its form works.
    @Test func theBrowserIsGivenItsCookieBack() throws {
        let (_, signedIn) = try bea()
        let session = [(name: "cookie", value: "\(cookie)=\(try #require(signedIn.cookies[cookie]))")]
        let browser = TestBrowser(app)
        let page = browser.send(.get, "/account/methods/google/remove", headers: session)
        #expect(page.status == 200 && browser.cookies["__Host-merganser_browser"] != nil)
    }
}
