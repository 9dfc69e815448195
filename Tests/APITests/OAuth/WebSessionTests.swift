import HTTP
import TestSupport
import Testing

@testable import Pages

/// How long a user stays signed in in a browser (accounts §2.4).
@Suite struct WebSessionTests {
    let scene: OAuthScene
    let rp: TestClient

    init() throws {
        scene = try OAuthScene()
        rp = try scene.register(firstParty: true)
    }

    private var app: TestApp { scene.app }
    private let cookie = "__Host-merganser_session"

    private func isSignedIn(_ browser: TestBrowser) -> Bool {
        browser.send(.get, scene.authorizePath(rp, ["prompt": "none"])).header("Location")?.contains("code=") == true
    }

    @Test func itEndsTwoHoursAfterItsLastUse() throws {
        let browser = try scene.signedIn()
        for _ in 1...3 {
            app.time.advance(by: .seconds(7199))
            #expect(isSignedIn(browser))
        }
        app.time.advance(by: .seconds(7200))
        #expect(!isSignedIn(browser))
    }

    @Test func itEndsTwelveHoursAfterTheSignIn() throws {
        let browser = try scene.signedIn()
        for _ in 1...11 {
            app.time.advance(by: .seconds(3600))
            #expect(isSignedIn(browser))
        }
        app.time.advance(by: .seconds(3599))
        #expect(isSignedIn(browser))
        app.time.advance(by: .seconds(1))
        #expect(!isSignedIn(browser))
    }

    @Test func itsUseIsNotedOnceAMinute() throws {
        let browser = try scene.signedIn()
        func lastUse() throws -> [String] { try app.column("SELECT CAST(last_used_at AS CHAR) FROM web_sessions") }
        let before = try lastUse()
        app.time.advance(by: .seconds(59))
        #expect(isSignedIn(browser))
        #expect(try lastUse() == before)
        app.time.advance(by: .seconds(1))
        #expect(isSignedIn(browser))
        #expect(try lastUse() != before)
    }

    @Test func itIsRenewedAtEverySignIn() throws {
        let browser = try scene.signedIn()
        let first = try #require(browser.cookies[cookie])
        browser.open(scene.authorizePath(rp, ["prompt": "login"]))
        try browser.signIn()
        #expect(browser.cookies[cookie] != first)
        #expect(try app.count("SELECT COUNT(*) FROM web_sessions") == 1)
        // Another browser's stays.
        let other = try scene.signedIn()
        #expect(isSignedIn(other) && isSignedIn(browser))
        #expect(try app.count("SELECT COUNT(*) FROM web_sessions") == 2)
    }

    @Test func aCookieThatNobodyGaveOpensNothing() throws {
        let browser = try scene.signedIn()
        let good = try #require(browser.cookies[cookie])
        let path = scene.authorizePath(rp, ["prompt": "none"])
        for value in ["", "x", good.lowercased(), String(good.dropLast()), good + "A"] {
            let answer = TestBrowser(app).send(.get, path, headers: [("cookie", "\(cookie)=\(value)")])
            #expect(answer.header("Location")?.contains("login_required") == true, "\(value)")
        }
        for header in ["merganser_session=\(good)", "\(cookie)2=\(good)", "a=\(cookie)=\(good)"] {
            let answer = TestBrowser(app).send(.get, path, headers: [("cookie", header)])
            #expect(answer.header("Location")?.contains("login_required") == true, "\(header)")
        }
        for header in ["\(cookie)=\(good)", "a=b; \(cookie)=\(good); c=d", "a=b;\(cookie)=\(good)"] {
            let answer = TestBrowser(app).send(.get, path, headers: [("cookie", header)])
            #expect(answer.header("Location")?.contains("code=") == true, "\(header)")
        }
    }

    @Test func aDeletedAccountIsSignedOut() throws {
        let browser = try scene.signedIn()
        try app.change("UPDATE users SET deleted_at = NOW(3), purge_at = NOW(3)")
        #expect(!isSignedIn(browser))
    }

    @Test func logoutEndsIt() throws {
        let browser = try scene.signedIn()
        let stolen = try #require(browser.cookies[cookie])
        browser.open("/session/logout")
        #expect(browser.answer.text.contains("bea@example.com"))
        try browser.submit("/session/logout")
        #expect(browser.answer.status == 200 && browser.heading == EnglishTexts().signedOut)
        #expect(browser.cookies[cookie] == nil)
        #expect(try app.count("SELECT COUNT(*) FROM web_sessions") == 0)
        let answer = TestBrowser(app).send(
            .get, scene.authorizePath(rp, ["prompt": "none"]), headers: [("cookie", "\(cookie)=\(stolen)")])
        #expect(answer.header("Location")?.contains("login_required") == true)
        #expect(browser.open("/session/logout").text.contains(EnglishTexts().signedOut))
    }

    /// The form of an earlier page is sent again. The session has ended already, so nothing changes.
    @Test func signingOutTwiceDoesNoHarm() throws {
        let browser = try scene.signedIn()
        browser.open("/session/logout")
        let form = try browser.fields(of: "/session/logout")
        #expect(browser.send(.post, "/session/logout", form).header("Set-Cookie")?.contains("Max-Age=0") == true)
        let again = browser.send(.post, "/session/logout", form)
        #expect(again.status == 303 && again.header("Location") == "/session/logout")
        #expect(again.header("Set-Cookie") == nil)
    }

    @Test(arguments: ["null", TestApp.issuer]) func theFormIsTakenFrom(_ origin: String) throws {
        let browser = try scene.signedIn()
        browser.open("/session/logout")
        let form = try browser.fields(of: "/session/logout")
        let answer = browser.send(.post, "/session/logout", form, headers: [("origin", origin)])
        #expect(answer.status == 303)
        #expect(try app.count("SELECT COUNT(*) FROM web_sessions") == 0)
    }

    /// No other site can send the form, whatever origin the browser states, with or without the session's cookie.
    @Test func anotherSiteCannotSignAnybodyOut() throws {
        let browser = try scene.signedIn()
        browser.open("/session/logout")
        let form = try browser.fields(of: "/session/logout")
        let strangers = TestBrowser(app)
        strangers.open(scene.authorizePath(rp))
        let other = try scene.signedIn("other", email: nil)
        other.open("/session/logout")
        let foreign = try other.fields(of: "/session/logout")
        try app.expectUnchanged {
            for origin in [
                "https://evil.example", "http://id.example", "https://id.example:8443", "https://id.example/", "",
            ] {
                let answer = browser.send(.post, "/session/logout", form, headers: [("origin", origin)])
                #expect(answer.status == 403 && answer.header("Set-Cookie") == nil, "\(origin)")
            }
            let forgeries: [[(String, String?)]] = [
                [], [("token", "")], [("token", "x")], [("request", "x"), ("token", "y")], foreign,
                form.map { ($0.0, $0.1.map { String($0.dropLast()) }) }, [("request", "/session/logout")],
                [("request", "")],
            ]
            for forgery in forgeries {
                for one in [browser, strangers, TestBrowser(app)] {
                    let answer = one.send(.post, "/session/logout", forgery)
                    #expect(answer.status == 403 && answer.header("Set-Cookie") == nil, "\(forgery)")
                    #expect(answer.text.contains("<h1>\(EnglishTexts().heading(.forged))</h1>"))
                }
            }
        }
        #expect(isSignedIn(browser) && isSignedIn(other))
    }

    /// If the browser has lost the other cookie, the page sets it again, so that the form works.
    @Test func theBrowserIsGivenItsCookieBack() throws {
        let signedIn = try scene.signedIn()
        let session = [("cookie", "\(cookie)=\(try #require(signedIn.cookies[cookie]))")]
        let browser = TestBrowser(app)
        let page = browser.send(.get, "/session/logout", headers: session)
        #expect(page.status == 200 && browser.cookies["__Host-merganser_browser"] != nil)
    }
}
