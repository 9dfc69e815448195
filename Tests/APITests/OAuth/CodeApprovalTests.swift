import Accounts
import HTTP
import JSON
import TestSupport
import Testing

@testable import Pages

/// Sign-ins in a browser by a code that a person scans with the app (accounts §4.2). What comes after the scan:
/// `PushApprovalTests`.
@Suite struct CodeApprovalTests {
    let scene: OAuthScene
    let rp: TestClient

    init() throws {
        scene = try OAuthScene()
        rp = try scene.register(redirectURIs: ["https://shop.example/callback"], anonymous: true)
    }

    private var app: TestApp { scene.app }

    /// A browser that shows a code.
    private func showing() throws -> TestBrowser {
        let browser = TestBrowser(app)
        browser.open(scene.authorizePath(rp))
        try browser.submit("/oauth/qr/start")
        try #require(browser.path.hasPrefix("/oauth/push?"), "\(browser.answer)")
        return browser
    }

    private func id(of browser: TestBrowser) -> String { query(of: browser.path)["id"] ?? "" }

    private func look(_ id: String, by phone: Phone) -> Answer {
        scene.client.send(.get, "/api/v1/oauth/qr/\(id)", token: phone.token)
    }

    private func send(_ id: String, _ step: String, _ body: JSONValue? = nil, by phone: Phone) -> Answer {
        scene.client.send(.post, "/api/v1/oauth/qr/\(id)\(step)", body, token: phone.token)
    }

    private func number(of browser: TestBrowser) throws -> JSONValue {
        browser.open(browser.path)
        return .string(String(try #require(browser.answer.text.firstMatch(of: /<p class="code">([0-9]{2})<\/p>/)).1))
    }

    private func code(_ address: String) -> String { QRCode(Array(address.utf8))?.path ?? "" }

    /// MariaDB refuses to compare such text with an ASCII column (1267).
    @Test func anIDOfOtherLettersIsUnknown() throws {
        let (phone, id) = (try scene.person(), "%C3%A9")
        #expect(look(id, by: phone).status == 404)
        #expect(send(id, "/scan", by: phone).status == 404)
        #expect(send(id, "/approve", ["number_match": "42"], by: phone).status == 404)
        let path = "/api/v1/me/push_approvals/\(id)/deny"
        #expect(scene.client.send(.post, path, token: phone.token).status == 404)
        let browser = try showing()
        let own = self.id(of: browser)
        browser.open(browser.path.replacing(own, with: id))
        #expect(browser.answer.status != 500, "\(browser.answer)")
    }

    @Test(arguments: [true, false]) func whoScansSignsTheBrowserIn(anonymous: Bool) throws {
        let phone = anonymous ? try scene.anonymous() : try scene.person()
        let browser = try showing()
        let id = id(of: browser)
        #expect(browser.answer.header("Refresh") == "3")
        #expect(browser.answer.text.contains(code("https://id.example/oauth/qr/\(id)")))
        #expect(!browser.answer.text.contains("<p class=\"code\">"), "no number before the scan")
        let expected =
            #"{"id":"\#(id)","status":"pending","ip":"192.0.2.7","user_agent":null,"application":"Shop","#
            + #""created_at":"2026-05-12T07:00:00Z","expires_at":"2026-05-12T07:03:00Z"}"#
        #expect("\(look(id, by: phone))" == "200 \(expected)")
        #expect("\(send(id, "/scan", by: phone))" == "200 \(expected)")
        #expect("\(send(id, "/scan", by: phone))" == "200 \(expected)", "again it changes nothing")
        let number = try number(of: browser)
        #expect(send(id, "/approve", ["number_match": number], by: phone).status == 200)
        browser.open(browser.path)
        #expect(browser.path.hasPrefix("/oauth/consent?"))
        #expect(try app.column("SELECT CONCAT(user_id) FROM web_sessions") == ["\(phone.userID)"])
        #expect(
            try app.column("SELECT event FROM login_events WHERE user_id = ? ORDER BY id DESC LIMIT 1", phone.userID)
                == ["web_login"])
    }

    @Test func theFirstWhoScansDecides() throws {
        let (first, second) = (try scene.person("first"), try scene.person("second"))
        let browser = try showing()
        let id = id(of: browser)
        #expect("\(send(id, "/approve", ["number_match": "10"], by: first))" == refusal(404, "not_found"))
        #expect(look(id, by: second).status == 200)
        #expect(send(id, "/scan", by: first).status == 200)
        let number = try number(of: browser)
        #expect("\(look(id, by: second))" == refusal(404, "not_found"))
        #expect("\(send(id, "/scan", by: second))" == refusal(404, "not_found"))
        #expect("\(send(id, "/approve", ["number_match": number], by: second))" == refusal(404, "not_found"))
        #expect(send(id, "/approve", ["number_match": number], by: first).status == 200)
        let list = scene.client.send(.get, "/api/v1/me/push_approvals", token: first.token)["push_approvals"]
        #expect(list?.array?.compactMap { $0["status"]?.string } == ["approved"])
    }

    @Test func scansRace() throws {
        let racers = Racers(app, 8)
        let phones = try (0..<8).map { try scene.person("racer \($0)") }
        for _ in 1...10 {
            let id = id(of: try showing())
            let answers = try racers.race(
                phones.map {
                    RepeatableRequest(method: .post, path: "/api/v1/oauth/qr/\(id)/scan", token: $0.token)
                })
            #expect(answers.count { $0.status == 200 } == 1 && answers.count { $0.status == 404 } == 7)
        }
    }

    @Test func aRequestForAnAddressIsNotScanned() throws {
        let phone = try scene.person()
        let browser = TestBrowser(app)
        browser.open(scene.authorizePath(rp))
        try browser.submit("/oauth/push/start", ["email": "nobody@example.com"])
        #expect(look(id(of: browser), by: phone).status == 404)
        #expect(send(id(of: browser), "/scan", by: phone).status == 404)
    }

    /// Whom an anonymous account let in is not signed in to the account that it goes into.
    @Test func aSwapDeniesWhatWaits() throws {
        let (phone, owner) = (try scene.anonymous(), try scene.person("owner"))
        let browser = try showing()
        let id = id(of: browser)
        #expect(send(id, "/scan", by: phone).status == 200)
        #expect(send(id, "/approve", ["number_match": try number(of: browser)], by: phone).status == 200)
        let swapped = scene.client.send(
            .post, "/api/v1/me/anonymous_swap", app.proof("owner").adding(["provider": "apple"]), token: phone.token)
        #expect(swapped["merged"]?["notifications"] == ["transferred": 1], "\(swapped)")
        browser.open(browser.path)
        #expect(browser.cookies["__Host-merganser_session"] == nil)
        #expect(try app.count("SELECT COUNT(*) FROM web_sessions") == 0)
        #expect(
            try app.column(
                """
                SELECT CONCAT_WS(' ', user_id, actor, details) FROM audit_log
                WHERE action = 'push_approval.decided' AND details LIKE '%denied%'
                """)
                == [
                    #"\#(owner.userID) user:\#(phone.userID) "#
                        + #"{"push_approval":"\#(id)","decision":"denied","reason":"swapped"}"#
                ])
    }

    @Test func afterThreeMinutesItIsGone() throws {
        let phone = try scene.person()
        let browser = try showing()
        app.time.advance(by: .seconds(180))
        #expect(look(id(of: browser), by: phone).status == 404)
        #expect(send(id(of: browser), "/scan", by: phone).status == 404)
        browser.open(browser.path)
        #expect(browser.alert == EnglishTexts().notice(.notApproved))
    }

    @Test func itCanBeSwitchedOff() throws {
        let scene = try OAuthScene(TestApp(offersCodes: false))
        let browser = TestBrowser(scene.app)
        browser.open(scene.authorizePath(try scene.register()))
        #expect(!browser.answer.text.contains("/oauth/qr/start"))
        let fields = [("request", query(of: browser.path)["request"])]
        #expect(browser.send(.post, "/oauth/qr/start", fields).status == 404)
    }
}
