import Accounts
import HTTP
import JSON
import TestSupport
import Testing

@testable import API
@testable import Pages

/// What has a page of its own under `/account`: sign-in history, agents and their requests, a copy of everything, and the end
/// (accounts §4.8). Who may is in `AccountPageTests`.
@Suite struct AccountRecordsTests {
    let scene: OAuthScene
    let phone: Phone
    let browser: TestBrowser

    /// Bea with her phone and her browser, signed in a moment ago.
    init() throws {
        scene = try OAuthScene()
        phone = try scene.person()
        browser = try scene.signedIn()
    }

    private var app: TestApp { scene.app }
    private let texts = EnglishTexts()
    private let cookie = "__Host-merganser_session"

    private var isSignedIn: Bool { scene.client.send(.get, "/api/v1/me", token: phone.token).status == 200 }

    private var next: String? { browser.links.first { $0.contains("?before=") } }

    /// What is no key of the list, or one of somebody else's.
    private func refusesCursors(_ path: String, _ others: [String]) {
        for before in ["", "x", "-1", "1 ", "%00", "9999999999999999999999", "e%CC%81"] + others {
            let answer = browser.send(.get, "\(path)?before=\(before)")
            #expect(answer.status == 400 && answer.text.contains("<h1>"), "\(before)")
            let program = browser.send(.get, "\(path)?before=\(before)", headers: [("accept", "application/json")])
            #expect(program.status == 400 && program.error == "invalid_cursor", "\(before)")
        }
    }

    // MARK: Sign-in history

    @Test func theSignInsArePaged() throws {
        for number in 1...60 {
            try app.change(
                """
                INSERT INTO login_events (user_id, event, provider, ip, user_agent, platform, created_at)
                VALUES (?, 'refused', 'apple', CONCAT('192.0.2.', ?), '<b>x', 'web', '2026-05-01 07:00:00')
                """, phone.userID, 100 + number)
        }
        browser.open("/account/history")
        #expect(browser.answer.text.contains("192.0.2.160") && !browser.answer.text.contains("192.0.2.101<"))
        #expect(browser.answer.text.contains("&lt;b&gt;x") && browser.answer.text.contains("May 1, 2026, 07:00"))
        #expect(!browser.links.contains("/account/history"), "this is the first page")
        browser.open(try #require(next))
        #expect(browser.answer.text.contains("192.0.2.101") && !browser.answer.text.contains("192.0.2.160"))
        #expect(browser.answer.text.contains(texts.account.event("web_login", "Apple")))
        #expect(next == nil && browser.links.contains("/account/history"))
        refusesCursors("/account/history", [])
    }

    /// A later release may have written it.
    @Test func anUnknownKindOfSignInStandsForItself() throws {
        try app.change(
            "INSERT INTO login_events (user_id, event, created_at) VALUES (?, 'telepathy', '2026-05-01 07:00:00')",
            phone.userID)
        #expect(browser.open("/account/history").text.contains("<h2>telepathy</h2>"))
    }

    @Test func nobodyElsesSignInsAreShown() throws {
        let ada = try scene.person("ada", email: "ada@example.com")
        try app.change("UPDATE login_events SET ip = '198.51.100.9' WHERE user_id = ?", ada.userID)
        #expect(!browser.open("/account/history").text.contains("198.51.100.9"))
    }

    // MARK: Agents

    @Test func anAgentIsRevoked() throws {
        let agent = try scene.client.agent(of: phone, in: app, ["name": "Shop & <b>", "allowed_action_types": ["a.b"]])
        let approval = try scene.client.ask(agent, ["action_type": "a.b"])
        let path = "/account/agents/\(agent.id)/revoke"
        browser.open("/account/agents")
        #expect(browser.links.contains(path) && browser.links.contains("/account/approvals"))
        #expect(browser.answer.text.contains("Shop &amp; &lt;b&gt;") && browser.answer.text.contains("a.b"))
        #expect(!browser.answer.text.contains(agent.token))
        browser.open(path)
        #expect(browser.answer.text.contains(texts.account.revokeEffect))
        try browser.submit(path)
        #expect(browser.path == "/account?notice=agent_revoked")
        #expect(browser.answer.text.contains(texts.account.notice(.agentRevoked)))
        #expect(try scene.client.send(agent.poll(approval.id)).status == 401)
        #expect(try app.column("SELECT status FROM agent_approvals") == ["cancelled"])
        let actor = "user:\(phone.userID)"
        #expect(
            try app.count("SELECT COUNT(*) FROM audit_log WHERE action = 'agent.revoked' AND actor = ?", actor) == 1)
        // A second tab.
        browser.open(path)
        #expect(browser.path == "/account?notice=gone")
        #expect(browser.open("/account/agents").text.contains(texts.account.noAgents))
    }

    @Test func onlyTheOwnersAgent() throws {
        let ada = try scene.person("ada", email: "ada@example.com")
        let agent = try scene.client.agent(of: ada, in: app)
        let own = try scene.client.agent(of: phone, in: app)
        browser.open("/account/agents/\(own.id)/revoke")
        for id in [agent.id, "x", "e\u{301}", own.id.uppercased()] {
            let path = "/account/agents/\(id)/revoke"
            #expect(browser.send(.get, path).header("Location") == "/account?notice=gone", "\(id)")
        }
        #expect(!browser.open("/account/agents").text.contains(agent.id))
        #expect(try app.count("SELECT COUNT(*) FROM agents WHERE revoked_at IS NULL") == 2)
    }

    // MARK: What agents asked

    @Test func theRequestsOfAgentsAreShown() throws {
        let agent = try scene.client.agent(of: phone, in: app)
        let approved = try scene.client.ask(agent, ["title": "Deploy", "action_type": "deploy"])
        #expect(scene.client.decide(approved, "approved", as: phone, number: approved.number).status == 200)
        let pending = try scene.client.ask(
            agent, ["title": "<i>Push</i>", "body": "one\n<b>two", "context": ["secret": "c0ntext"]])
        let page = browser.open("/account/approvals").text
        for text in [
            "Deploy", "&lt;i&gt;Push&lt;/i&gt;", "one\n&lt;b&gt;two", "Büro-Agent", texts.account.status("approved"),
            texts.account.status("pending"), texts.account.approvalsIntroduction,
        ] {
            #expect(page.contains(text), "\(text)")
        }
        // Neither the number nor a way to decide.
        #expect(!page.contains(pending.number) && !page.contains("<form"))
        // Nobody has to have cleaned up.
        app.time.advance(by: .seconds(301))
        let late = browser.open("/account/approvals").text
        #expect(late.contains(texts.account.status("expired")) && !late.contains(texts.account.status("pending")))
    }

    @Test func theRequestsArePaged() throws {
        let agent = try scene.client.agent(of: phone, in: app)
        for number in 1...51 {
            try app.change(
                """
                INSERT INTO agent_approvals (user_id, agent_id, public_id, status, action_type, title, body,
                                             display_payload_hash, created_at, expires_at)
                SELECT user_id, id, CONCAT('aar_', LPAD(?, 16, '0')), 'rejected', 'a', CONCAT('Number ', ?, '.'), '', '', ?, ?
                FROM agents WHERE public_id = ?
                """, number, number, app.time.now, app.time.now, agent.id)
        }
        let ada = try scene.person("ada", email: "ada@example.com")
        let others = try scene.client.ask(scene.client.agent(of: ada, in: app)).id
        browser.open("/account/approvals")
        #expect(browser.answer.text.contains("Number 51.") && browser.answer.text.contains("Number 2."))
        #expect(!browser.answer.text.contains("Number 1.<"))
        browser.open(try #require(next))
        #expect(browser.answer.text.contains("Number 1.<") && !browser.answer.text.contains("Number 2."))
        #expect(next == nil && browser.links.contains("/account/approvals"))
        refusesCursors("/account/approvals", [others])
    }

    // MARK: A copy of everything

    /// Here and in the app together three times a day.
    @Test func theDataIsDownloaded() throws {
        let path = "/account/export"
        browser.open(path)
        #expect(browser.heading == texts.account.exportQuestion)
        let form = try browser.fields(of: path)
        func download() throws -> Answer { try browser.send(.post, path, form).received() }
        let file = try download()
        #expect(file.status == 200 && file.header("Content-Type") == "application/json")
        #expect(
            file.header("Content-Disposition")
                == "attachment; filename=\"account-\(phone.userID).json\"; filename*=UTF-8''account-\(phone.userID).json"
        )
        #expect(file.header("Cache-Control") == "no-store" && file.header("X-Content-Type-Options") == "nosniff")
        #expect(file["account"]?["id"] == .integer(Int64(phone.userID)) && file["format"] == 1)
        let session = try #require(browser.cookies[cookie])
        #expect(!file.text.contains(phone.token) && !file.text.contains(session))
        try app.change("UPDATE paks SET scopes = 'profile:read login_history:read' WHERE user_id = ?", phone.userID)
        let inApp = try scene.client.send(.get, "/api/v1/me/export", token: phone.token).received()
        #expect(inApp.status == 200)
        #expect(inApp["identities"] == file["identities"] && inApp["devices"] == file["devices"])
        #expect(try download().status == 200)
        let fourth = try download()
        #expect(fourth.status == 429 && fourth.header("Retry-After") == "86400")
        #expect(fourth.text.contains(texts.account.exportLimit) && fourth.header("Content-Disposition") == nil)
        #expect(scene.client.send(.get, "/api/v1/me/export", token: phone.token).status == 429)
        #expect(try app.count("SELECT COUNT(*) FROM audit_log WHERE action = 'user.exported'") == 3)
    }

    @Test func tooMuchIsSaidAtTheAccount() throws {
        let settings = AccountsSettings(
            issuer: TestApp.issuer, exportBound: ExportBound(bytes: 100, time: .seconds(60)))
        let scene = try OAuthScene(TestApp(settings: settings))
        _ = try scene.person()
        let browser = try scene.signedIn()
        browser.open("/account/export")
        try browser.submit("/account/export")
        #expect(browser.path == "/account?notice=too_large")
        #expect(browser.answer.text.contains("There is too much data for this to be done here."))
    }

    // MARK: The end

    @Test func theAccountIsDeleted() throws {
        let shop = try scene.register()
        _ = try scene.signIn(shop, as: phone)
        let agent = try scene.client.agent(of: phone, in: app)
        let path = "/account/delete"
        let wrong: [String?] = [nil, "", " ", "yes", "deleted", "delet", "삭제하기", "delete\u{301}", "de lete"]
        for word in wrong {
            browser.open(path)
            #expect(browser.answer.text.contains("June 11, 2026"))
            try browser.submit(path, ["word": word])
            #expect(browser.alert == texts.account.wrongWord("delete"), "\(word ?? "nothing")")
            #expect(browser.answer.text.contains("aria-invalid=\"true\""))
        }
        #expect(isSignedIn)
        let ended = try #require(browser.cookies[cookie])
        try browser.submit(path, ["word": "Delete "])
        #expect(browser.heading == texts.account.deleted && browser.answer.text.contains("June 11, 2026"))
        #expect(browser.cookies[cookie] == nil && !isSignedIn)
        #expect(try app.count("SELECT COUNT(*) FROM users WHERE id = ? AND deleted_at IS NULL", phone.userID) == 0)
        #expect(try app.count("SELECT COUNT(*) FROM grants WHERE revoked_at IS NULL") == 0)
        #expect(try scene.client.send(agent.asking()).status == 401)
        #expect(try app.count("SELECT COUNT(*) FROM audit_log WHERE action = 'user.deleted'") == 1)
        let stolen = [(name: "cookie", value: "\(cookie)=\(ended)")]
        #expect(TestBrowser(app).send(.get, "/account", headers: stolen).status == 303)
        browser.open("/account")
        try browser.signIn()
        #expect(browser.path.hasPrefix("/oauth/login?") && browser.alert?.contains("2026") == true)
    }

    /// In the page's language, and in the one that the page was read in before.
    @Test(arguments: ["삭제", "\u{1109}\u{1161}\u{11A8}\u{110C}\u{1166}", " 삭제\n", "DELETE"])
    func theWordMayBeInAnyLanguage(_ word: String) throws {
        let korean = [(name: "accept-language", value: "ko")]
        let page = browser.send(.get, "/account/delete", headers: korean)
        #expect(page.text.contains("‘삭제’") && page.text.contains("2026년 6월 11일"))
        browser.open("/account/delete")
        let form = try browser.fields(of: "/account/delete")
        let answer = browser.send(.post, "/account/delete", form + [("word", word)], headers: korean)
        #expect(answer.text.contains("<h1>\(KoreanTexts().account.deleted)</h1>"))
        #expect(!isSignedIn)
    }

    @Test func ofTwoFormsAtOnceOneDeletes() throws {
        browser.open("/account/delete")
        let form = encoded(try browser.fields(of: "/account/delete") + [("word", "delete")])
        let header = browser.cookies.map { "\($0)=\($1)" }.joined(separator: "; ")
        let statuses = app.atOnce(2) { client, _ in
            client.send(.post, "/account/delete", bytes: form, headers: [("cookie", header)]).status
        }
        #expect(statuses.sorted() == [200, 303])
        #expect(try app.count("SELECT COUNT(*) FROM audit_log WHERE action = 'user.deleted'") == 1)
    }

    // MARK: Methods

    /// A program that checks links sends HEAD, with the person's cookies.
    @Test func headAndGetChangeNothing() throws {
        let agent = try scene.client.agent(of: phone, in: app)
        for path in [
            "/account/history", "/account/agents", "/account/agents/\(agent.id)/revoke", "/account/approvals",
            "/account/export", "/account/delete",
        ] {
            try app.expectUnchanged {
                for method in [Method.head, .get] {
                    let answer = browser.send(method, path)
                    #expect(answer.status == 200 && answer.header("Cache-Control") == "no-store", "\(path)")
                    #expect(answer.header("Content-Disposition") == nil)
                }
            }
        }
        for (path, allow) in [
            ("/account/history", "GET, HEAD"), ("/account/agents", "GET, HEAD"), ("/account/approvals", "GET, HEAD"),
            ("/account/export", "GET, HEAD, POST"), ("/account/delete", "GET, HEAD, POST"),
            ("/account/agents/x/revoke", "GET, HEAD, POST"),
        ] {
            let answer = browser.send(.delete, path)
            #expect(answer.status == 405 && answer.header("Allow") == allow, "\(path)")
        }
    }
}
