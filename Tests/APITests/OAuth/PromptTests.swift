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

    /// Otherwise Google would go on with the account that it remembers, and nobody would be asked.
    @Test func googleAsksWhoeverMustSignInAgain() throws {
        func prompt(_ browser: TestBrowser) throws -> String? { try browser.setOut(to: .google).parameters["prompt"] }
        let stranger = TestBrowser(scene.app)
        stranger.open(scene.authorizePath(rp, ["max_age": "100"]))
        #expect(try prompt(stranger) == nil)

        let browser = try regular()
        scene.app.time.advance(by: .seconds(101))
        browser.open(scene.authorizePath(rp, ["max_age": "100"]))
        #expect(try prompt(browser) == "select_account")
        // So it is on the way back from a provider without a result.
        let trip = try browser.setOut(to: .google)
        try browser.comeBack(trip, [("error", "access_denied")])
        #expect(try prompt(browser) == "select_account")
    }

    @Test func googleAsksWhoeverWantsAnotherAccount() throws {
        let browser = try scene.signedIn()
        browser.open(scene.authorizePath(rp))
        try browser.submit("/session/logout")
        #expect(browser.path.hasPrefix("/oauth/login?"))
        let trip = try browser.setOut(to: .google)
        #expect(trip.parameters["prompt"] == "select_account")
        // So it is on the way back from a provider without a result.
        try browser.comeBack(trip, [("error", "access_denied")])
        #expect(try browser.setOut(to: .google).parameters["prompt"] == "select_account")
        try browser.signIn(with: .google, as: "other", email: "other@example.com")
        #expect(browser.path.hasPrefix("/oauth/consent?") && browser.answer.text.contains("other@example.com"))
    }

    /// The page may be old: its user has signed out in another tab.
    @Test func anotherAccountMayBeWantedWithoutASession() throws {
        let browser = try scene.signedIn()
        browser.open(scene.authorizePath(rp))
        let form = try browser.fields(of: "/session/logout")
        browser.open("/session/logout")
        try browser.submit("/session/logout")
        #expect(browser.cookies["__Host-merganser_session"] == nil)
        let answer = browser.send(.post, "/session/logout", form)
        browser.open(try #require(answer.header("Location"), "\(answer)"))
        #expect(browser.path.hasPrefix("/oauth/login?"))
        #expect(try browser.setOut(to: .google).parameters["prompt"] == "select_account")
        try browser.signIn(with: .google, as: "other", email: "other@example.com")
        #expect(browser.path.hasPrefix("/oauth/consent?") && browser.answer.text.contains("other@example.com"))
    }

    // MARK: id_token_hint

    /// The id_token that the application gets of a browser's person.
    private func idToken(_ browser: TestBrowser) throws -> String {
        browser.open(scene.authorizePath(rp))
        if browser.code == nil { try browser.submit("/oauth/consent", ["decision": "allow"]) }
        let tokens = try Tokens(scene.exchange(try #require(browser.code), by: rp))
        return try #require(tokens.id)
    }

    @Test func aHintNamesWhoIsToSignIn() throws {
        let (browser, other) = (try regular(), try scene.signedIn("other", email: "other@example.com"))
        let (own, theirs) = (try idToken(browser), try idToken(other))
        // They may have expired.
        scene.app.time.advance(by: .seconds(3700))
        func answer(_ hint: String) -> Answer {
            browser.send(.get, scene.authorizePath(rp, ["prompt": "none", "id_token_hint": hint]))
        }
        #expect(query(of: answer(own).header("Location") ?? "")["code"] != nil)
        #expect(error(answer(theirs)) == "login_required")
        // What nobody can verify counts as absent.
        let elsewhere = try scene.register("Club", redirectURIs: ["https://club.example/cb"], firstParty: true)
        other.open(scene.authorizePath(elsewhere))
        let foreign = try Tokens(scene.exchange(try #require(other.code), by: elsewhere))
        for hint in ["x", String(theirs.dropLast(4)) + "AAAA", try #require(foreign.id)] {
            #expect(query(of: answer(hint).header("Location") ?? "")["code"] != nil, "\(hint)")
        }

        // Nobody is offered to go on as who they are.
        browser.open(scene.authorizePath(rp, ["id_token_hint": theirs]))
        #expect(browser.path.hasPrefix("/oauth/login?"))
        #expect(!browser.answer.text.contains("action=\"/oauth/consent\""))
        #expect(try browser.setOut(to: .google).parameters["prompt"] == "select_account")
        try browser.signIn(as: "other", email: "other@example.com")
        let code = try #require(browser.code, "\(browser.answer)")
        #expect(try Tokens(scene.exchange(code, by: rp)).idClaims.subject == JWT(theirs).claims.subject)
    }

    @Test func whoeverSignsInAsSomebodyElseGetsNoCode() throws {
        let theirs = try idToken(try scene.signedIn("other", email: "other@example.com"))
        let (browser, stranger) = (try regular(), TestBrowser(scene.app))
        for browser in [browser, stranger] {
            browser.open(scene.authorizePath(rp, ["id_token_hint": theirs]))
            try browser.signIn()
            #expect(error(browser.answer) == "login_required", "\(browser.answer)")
        }
    }

    /// Otherwise Google would go on with the account that it remembers, be it the one that is meant or not.
    @Test func googleAsksWhoeverAHintNames() throws {
        let hint = try idToken(try regular())
        let stranger = TestBrowser(scene.app)
        stranger.open(scene.authorizePath(rp, ["id_token_hint": hint]))
        #expect(try stranger.setOut(to: .google).parameters["prompt"] == "select_account")
    }

    /// The account that a sub belongs to today is the one that is meant.
    @Test func aHintMayNameAnAccountThatWasMerged() throws {
        let (browser, other) = (try regular(), try scene.signedIn("other", email: "other@example.com"))
        let theirs = try idToken(other)
        func user(_ subject: String) throws -> Int {
            try scene.app.count("SELECT user_id FROM identities WHERE sub = ?", subject)
        }
        try scene.merge(user("other"), into: user("subject"))
        browser.open(scene.authorizePath(rp, ["prompt": "none", "id_token_hint": theirs]))
        #expect(browser.code != nil, "\(browser.answer)")
    }
}
