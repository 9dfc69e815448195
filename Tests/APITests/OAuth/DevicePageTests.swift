import HTTP
import JOSE
import JSON
import TestSupport
import Testing

@testable import Pages

/// `/oauth/device`: a person in a browser decides about a device (RFC 8628 §3.3, accounts §2.11).
@Suite struct DevicePageTests {
    let scene: OAuthScene
    let tv: TestClient

    init() throws {
        scene = try OAuthScene()
        tv = try scene.register("TV")
    }

    private var app: TestApp { scene.app }

    /// The codes that a device shows and polls with.
    private func begin() throws -> (deviceCode: String, userCode: String) {
        let answer = scene.post("/oauth/device_authorization", [("scope", "openid email")], as: tv)
        return (
            try #require(answer["device_code"]?.string, "\(answer)"), try #require(answer["user_code"]?.string)
        )
    }

    private func poll(_ deviceCode: String) -> Answer {
        app.time.advance(by: .seconds(5))
        return scene.post(
            "/oauth/token",
            [("grant_type", "urn:ietf:params:oauth:grant-type:device_code"), ("device_code", deviceCode)], as: tv)
    }

    /// A browser at the page with the code, whose person is signed in.
    private func asked(_ userCode: String) throws -> TestBrowser {
        let browser = try scene.signedIn()
        browser.open("/oauth/device")
        try browser.submit("/oauth/device", ["user_code": userCode])
        try #require(browser.answer.text.contains("TV"), "\(browser.answer)")
        return browser
    }

    @Test func aPersonSignsInAndAllows() throws {
        let (deviceCode, userCode) = try begin()
        let browser = TestBrowser(app)
        browser.open("/oauth/device?user_code=\(userCode)")
        #expect(browser.path.hasPrefix("/oauth/login?") && browser.heading == EnglishTexts().signIn)
        try browser.signIn()
        #expect(browser.path.hasPrefix("/oauth/device?") && browser.answer.text.contains("value=\"\(userCode)\""))
        try browser.submit("/oauth/device", ["user_code": userCode])
        #expect(browser.answer.text.contains("TV") && browser.answer.text.contains(userCode))
        #expect(browser.answer.text.contains("bea@example.com"))
        #expect(poll(deviceCode).error == "authorization_pending")
        try browser.submit("/oauth/device", ["decision": "allow"])
        #expect(browser.heading == EnglishTexts().deviceConnected)
        let tokens = try Tokens(poll(deviceCode))
        #expect(tokens.answer["scope"] == "openid email")
        #expect(try tokens.idClaims.string("email") == "bea@example.com")
        #expect(poll(deviceCode).error == "invalid_grant")
    }

    @Test func aPersonRefuses() throws {
        let (deviceCode, userCode) = try begin()
        let browser = try asked(userCode)
        try browser.submit("/oauth/device", ["decision": "deny"])
        #expect(browser.heading == EnglishTexts().deviceNotConnected)
        #expect(poll(deviceCode).error == "access_denied")
        #expect(try app.count("SELECT COUNT(*) FROM grants") == 0)
    }

    @Test func codesAreReadAsPeopleTypeThem() throws {
        let (_, userCode) = try begin()
        for typed in [userCode.lowercased(), userCode.replacing("-", with: ""), " \(userCode) "] {
            #expect(try asked(typed).answer.text.contains(userCode))
        }
    }

    @Test func aCodeThatIsNoneIsToldAndTriesEnd() throws {
        let browser = try scene.signedIn()
        browser.open("/oauth/device")
        for typed in ["", "BCDF-GHJK", "<b>", "AEIO-UAEI", "BCDF-GHJKL", "bcdfghjk", "1", "2", "3", "4"] {
            try browser.submit("/oauth/device", ["user_code": typed])
            #expect(browser.answer.status == 200 && browser.alert == EnglishTexts().notice(.unknownCode), "\(typed)")
            #expect(!browser.answer.text.contains("<b>"))
        }
        let (_, userCode) = try begin()
        try browser.submit("/oauth/device", ["user_code": userCode])
        #expect(browser.answer.status == 429 && browser.answer.header("Retry-After") == "600")
        #expect(browser.alert == EnglishTexts().notice(.tooManyTries))
        // The tries are the session's own; ten minutes later they begin again.
        #expect(try asked(userCode).answer.status == 200)
        app.time.advance(by: .seconds(600))
        let (_, later) = try begin()
        browser.open("/oauth/device")
        try browser.submit("/oauth/device", ["user_code": later])
        #expect(browser.answer.text.contains("TV"))
    }

    @Test func nobodyDecidesByGuessing() throws {
        let (deviceCode, userCode) = try begin()
        let browser = try scene.signedIn()
        browser.open("/oauth/device")
        let other = try asked(userCode)
        let confirmation = try other.fields(of: "/oauth/device").first { $0.0 == "confirmation" }?.1
        for proof in [nil, "", "x", confirmation] {
            browser.open("/oauth/device")
            try browser.submit(
                "/oauth/device", ["user_code": userCode, "decision": "deny", "confirmation": proof])
            #expect(browser.answer.text.contains("TV"))
        }
        #expect(poll(deviceCode).error == "authorization_pending")
        #expect(try app.count("SELECT MAX(count) FROM rate_limits") == 4)
    }

    @Test func whoDecidesIsWhoWasAsked() throws {
        let (deviceCode, userCode) = try begin()
        let browser = try asked(userCode)
        let form = try browser.fields(of: "/oauth/device") + [("decision", "allow")]
        try browser.submit("/session/logout")
        #expect(browser.path.hasPrefix("/oauth/login?"))
        #expect(browser.send(.post, "/oauth/device", form).status == 303)
        try browser.signIn(as: "other", email: "other@example.com")
        #expect(browser.path.hasPrefix("/oauth/device?"))
        let answer = browser.send(.post, "/oauth/device", form)
        #expect(answer.text.contains("other@example.com"))
        #expect(poll(deviceCode).error == "authorization_pending")
    }

    @Test func aCodeIsDecidedOnceAndInTime() throws {
        let (_, userCode) = try begin()
        let (first, second) = (try asked(userCode), try asked(userCode))
        try first.submit("/oauth/device", ["decision": "allow"])
        try second.submit("/oauth/device", ["decision": "deny"])
        #expect(second.alert == EnglishTexts().notice(.unknownCode))
        #expect(try app.column("SELECT status FROM device_codes") == ["approved"])

        let late = try asked(try begin().userCode)
        app.time.advance(by: .seconds(600))
        try late.submit("/oauth/device", ["decision": "allow"])
        #expect(late.alert == EnglishTexts().notice(.unknownCode))
    }

    @Test func anAnonymousPersonNeedsAnApplicationThatIsOpenToThem() throws {
        let (deviceCode, userCode) = try begin()
        let browser = try asked(userCode)
        try app.change("UPDATE users SET anonymous = TRUE")
        try browser.submit("/oauth/device", ["decision": "allow"])
        #expect(browser.heading == EnglishTexts().deviceNotConnected)
        #expect(poll(deviceCode).error == "authorization_pending")
        #expect(try app.count("SELECT COUNT(*) FROM grants") == 0)
    }

    @Test func formsAreThePagesOwn() throws {
        let (_, userCode) = try begin()
        let browser = try asked(userCode)
        let form = try browser.fields(of: "/oauth/device") + [("decision", "allow")]
        try app.expectUnchanged {
            for wrong in [nil, "x"] as [String?] {
                let sent = form.filter { $0.0 != "token" } + [("token", wrong)]
                #expect(browser.send(.post, "/oauth/device", sent).status == 403)
            }
            let foreign = browser.send(.post, "/oauth/device", form, headers: [("origin", "https://evil.example")])
            #expect(foreign.status == 403)
            #expect(TestBrowser(app).send(.post, "/oauth/device", form).status == 403)
            #expect(browser.send(.post, "/oauth/device", form + [("decision", "maybe")]).status == 400)
        }
    }
}
