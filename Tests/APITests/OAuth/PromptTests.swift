import HTTP
import IdentityTokens
import JOSE
import TestSupport
import Testing
import Time

/// `prompt`, `max_age` (OpenID Connect Core §3.1.2.1) and similar parameters of an authorization request.
@Suite struct PromptTests {
    let scene: OAuthScene
    let rp: TestClient

    init() throws {
        scene = try OAuthScene()
        rp = try scene.register(redirectURIs: ["https://shop.example/callback"])
    }

    private func error(_ answer: Answer) -> String? {
        answer.status == 302 ? query(of: answer.header("Location") ?? "")["error"] : nil
    }

    /// A browser whose user has already allowed the application.
    private func regular() throws -> TestBrowser {
        let browser = try scene.signedIn()
        browser.open(scene.authorizePath(rp))
        try browser.submit("/oauth/consent", ["decision": "allow"])
        return browser
    }

    @Test func noneNeverAsks() throws {
        let path = scene.authorizePath(rp, ["prompt": "none"])
        let stranger = TestBrowser(scene.app)
        #expect(error(stranger.send(.get, path)) == "login_required")
        let browser = try scene.signedIn()
        #expect(error(browser.send(.get, path)) == "consent_required")
        #expect(query(of: try regular().send(.get, path).header("Location") ?? "")["code"] != nil)
        #expect(stranger.cookies.isEmpty)
    }

    @Test func noneHoldsForWhatElseIsAsked() throws {
        let browser = try regular()
        scene.app.time.advance(by: .seconds(60))
        func asked(_ changes: KeyValuePairs<String, String?>) -> String? {
            error(browser.send(.get, scene.authorizePath(rp, changes)))
        }
        #expect(asked(["prompt": "none", "max_age": "59"]) == "login_required")
        #expect(asked(["prompt": "none", "max_age": "0"]) == "login_required")
        #expect(asked(["prompt": "none", "max_age": "60"]) == nil)
        #expect(asked(["prompt": "none", "scope": "openid"]) == nil)
    }

    @Test(arguments: ["login", "consent login", "login select_account"])
    func loginMeansAgain(_ prompt: String) throws {
        let browser = try regular()
        browser.open(scene.authorizePath(rp, ["prompt": prompt]))
        #expect(browser.path.hasPrefix("/oauth/login?"))
        // Nobody is offered to go on as who they are, and the address of the next page does not help.
        #expect(!browser.answer.text.contains("action=\"/oauth/consent\""))
        let login = browser.path
        browser.open(login.replacing("/oauth/login", with: "/oauth/consent"))
        #expect(browser.path == login)

        let before = scene.app.time.now
        scene.app.time.advance(by: .seconds(10))
        try browser.signIn()
        if prompt.contains("consent") { try browser.submit("/oauth/consent", ["decision": "allow"]) }
        let code = try #require(browser.code)
        let claims = try Tokens(scene.exchange(code, by: rp)).idClaims
        #expect(claims.numericDate("auth_time") == Double(before.seconds + 10))
    }

    @Test func anOldSignInIsDoneAgain() throws {
        let browser = try regular()
        scene.app.time.advance(by: .seconds(100))
        #expect(browser.send(.get, scene.authorizePath(rp, ["max_age": "100"])).status == 302)
        for age in ["99", "0"] {
            browser.open(scene.authorizePath(rp, ["max_age": age]))
            #expect(browser.path.hasPrefix("/oauth/login?"))
        }
        try browser.signIn()
        #expect(browser.code != nil)
    }

    @Test func consentMeansAgain() throws {
        let browser = try regular()
        browser.open(scene.authorizePath(rp, ["prompt": "consent"]))
        #expect(browser.path.hasPrefix("/oauth/consent?"))
        try browser.submit("/oauth/consent", ["decision": "allow"])
        #expect(browser.code != nil)
    }

    @Test func whoIsSignedInMayBeChosenOrAnother() throws {
        let browser = try regular()
        browser.open(scene.authorizePath(rp, ["prompt": "select_account"]))
        #expect(browser.path.hasPrefix("/oauth/login?") && browser.answer.text.contains("bea@example.com"))
        try browser.submit("/oauth/consent", [:])
        #expect(browser.code != nil)

        browser.open(scene.authorizePath(rp, ["prompt": "select_account"]))
        try browser.signIn(as: "other", email: "other@example.com")
        #expect(browser.path.hasPrefix("/oauth/consent?") && browser.answer.text.contains("other@example.com"))
    }

    @Test func theLoginPageIsNarrowedToTheProvidersAskedFor() {
        func offered(_ provider: String?) -> [String] {
            let browser = TestBrowser(scene.app)
            browser.open(scene.authorizePath(rp, ["provider": provider]))
            return browser.links.compactMap { $0.firstMatch(of: /^\/auth\/(.*?)\/web\/start/).map { String($0.1) } }
        }
        #expect(offered(nil) == ["apple", "google"])
        #expect(offered("google") == ["google"])
        #expect(offered("google,apple") == ["apple", "google"])
        #expect(offered("apple,app") == ["apple"])
        // What cannot be offered does not leave a person without a way.
        #expect(offered("app") == ["apple", "google"])
        #expect(offered("facebook") == ["apple", "google"])
    }

    @Test func whatIsKnownOfThePersonIsPassedOn() throws {
        let browser = TestBrowser(scene.app)
        browser.open(scene.authorizePath(rp, ["login_hint": "a&b@example.com", "prompt": "login"]))
        let google = try browser.setOut(to: .google).parameters
        #expect(google["login_hint"] == "a&b@example.com" && google["prompt"] == "select_account")
        let apple = try browser.setOut(to: .apple).parameters
        #expect(apple["login_hint"] == nil && apple["prompt"] == nil)
    }
}
