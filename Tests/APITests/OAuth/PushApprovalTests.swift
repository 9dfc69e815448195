import Accounts
import Database
import HTTP
import IdentityTokens
import JSON
import MariaDB
import TestSupport
import Testing
import Time

@testable import Pages

/// Sign-ins in a browser that a person approves on a phone (accounts §2.4, §4.2).
@Suite struct PushApprovalTests {
    private static let approvals = "/api/v1/me/push_approvals"
    private static let address = "ada@example.com"
    private static let token = String(repeating: "0a1B", count: 16)

    let scene: OAuthScene
    let rp: TestClient
    let phone: Phone

    init() throws {
        scene = try OAuthScene()
        rp = try scene.register(redirectURIs: ["https://shop.example/callback"])
        phone = try scene.person("ada", email: Self.address)
    }

    private var app: TestApp { scene.app }

    /// A browser at the login page.
    private func arriving() -> TestBrowser {
        let browser = TestBrowser(app)
        browser.open(scene.authorizePath(rp))
        return browser
    }

    /// A browser that shows a number.
    private func waiting(_ address: String = Self.address) throws -> TestBrowser {
        let browser = arriving()
        try browser.submit("/oauth/push/start", ["email": address])
        try #require(browser.path.hasPrefix("/oauth/push?"), "\(browser.answer)")
        return browser
    }

    private func id(of browser: TestBrowser) -> String { query(of: browser.path)["id"] ?? "" }

    private func number(of browser: TestBrowser) throws -> String {
        String(
            try #require(browser.answer.text.firstMatch(of: /<p class="code">([0-9]{2})<\/p>/), "\(browser.answer)").1)
    }

    private func decide(_ id: String, _ decision: String, number: String? = nil, by phone: Phone? = nil) -> Answer {
        scene.client.send(
            .post, "\(Self.approvals)/\(id)/\(decision)", number.map { ["number_match": .string($0)] },
            token: (phone ?? self.phone).token)
    }

    @discardableResult
    private func approve(_ browser: TestBrowser) throws -> Answer {
        let answer = decide(id(of: browser), "approve", number: try number(of: browser))
        #expect(answer.description == #"200 {"id":"\#(id(of: browser))","status":"approved"}"#)
        return answer
    }

    private func wrong(_ number: String) -> String { number == "10" ? "11" : "10" }

    private func list(_ phone: Phone? = nil) -> [JSONValue] {
        scene.client.send(.get, Self.approvals, token: (phone ?? self.phone).token)["push_approvals"]?.array ?? []
    }

    private func register(
        _ phone: Phone, _ token: JSONValue? = .string(Self.token), _ environment: JSONValue? = "production"
    ) -> Answer {
        scene.registerForPush(phone, token, environment)
    }

    /// What a browser is shown, but for the values that every request has of its own.
    private func shape(_ browser: TestBrowser, _ id: String? = nil) -> String {
        var text = browser.answer.text.replacing(id ?? self.id(of: browser), with: "ID")
            .replacing(query(of: browser.path)["request"] ?? "", with: "REQUEST")
        text = text.replacing(/<p class="code">[0-9]{2}</, with: "NN")
            .replacing(/name="token" value="[^"]*"/, with: "TOKEN")
        let fields = browser.answer.response.headers.map { "\($0.name): \($0.value)" }.filter {
            !$0.contains("equest-Id")
        }
        return (["\(browser.answer.status)"] + fields + [text]).joined(separator: "\n")
    }

    private func history() throws -> [String] {
        try app.column(
            "SELECT CONCAT_WS(' ', event, platform) FROM login_events WHERE user_id = ? ORDER BY id", phone.userID)
    }

    // MARK: The way

    @Test func whoTypesTheNumberSignsTheBrowserIn() throws {
        let browser = try waiting()
        #expect(browser.heading == EnglishTexts().approveOnPhone)
        #expect(browser.answer.header("Refresh") == "3" && browser.answer.header("Cache-Control") == "no-store")
        #expect(!browser.answer.text.contains("<script"))
        // Nothing happens by itself.
        for _ in 1...3 { browser.open(browser.path) }
        #expect(browser.cookies["__Host-merganser_session"] == nil)
        try approve(browser)
        browser.open(browser.path)
        #expect(browser.path.hasPrefix("/oauth/consent?"))
        #expect(browser.answer.text.contains(Self.address))
        #expect(try app.column("SELECT CONCAT_WS(' ', user_id, provider) FROM web_sessions") == ["\(phone.userID)"])
        #expect(try history() == ["session ios", "web_login web"])
        #expect(
            try app.column(
                "SELECT CONCAT_WS(' ', requested_user_id, approved_user_id, status) FROM push_approval_requests")
                == ["\(phone.userID) \(phone.userID) approved"])
        let audited = try app.column(
            "SELECT CONCAT_WS(' ', user_id, actor, details) FROM audit_log WHERE action = 'push_approval.decided'")
        #expect(audited.count == 1 && audited[0].hasPrefix("\(phone.userID) user:\(phone.userID) "))
        #expect(audited[0].contains(#""decision":"approved""#))
    }

    @Test func thePhoneIsNotified() throws {
        #expect(register(phone).status == 204)
        let browser = try waiting("ADA@example.com")
        let sent = try app.notifications()
        #expect(sent.count == 1)
        #expect(sent[0]["token"] == .string(Self.token.lowercased()) && sent[0]["environment"] == "production")
        let payload = try #require(sent[0]["payload"])
        let id = id(of: browser)
        #expect(payload["kind"] == "sso_approval" && payload["id"] == .string(id))
        #expect(payload["universal_link"] == .string("https://id.example/push/\(id)"))
        #expect(payload["aps"]?["alert"]?["body"] == .string(EnglishTexts().pushText))
        // Neither the number nor anything that the browser holds.
        let text = String(decoding: payload.json(), as: UTF8.self)
        let number = try number(of: browser)
        #expect(!text.replacing(id, with: "").contains(number))
        #expect(!text.contains(query(of: browser.path)["request"] ?? ""))
    }

    @Test func theAppSeesWhoAsks() throws {
        let browser = try waiting()
        let expected =
            #"{"push_approvals":[{"id":"\#(id(of: browser))","status":"pending","ip":"192.0.2.7","user_agent":null,"#
            + #""application":"Shop","created_at":"2026-05-12T07:00:00Z","expires_at":"2026-05-12T07:03:00Z"}]}"#
        let answer = scene.client.send(.get, Self.approvals, token: phone.token)
        #expect(answer.description == "200 \(expected)")
        #expect(list(try scene.person("other")).isEmpty)
        app.time.advance(by: .seconds(180))
        #expect(list()[0]["status"] == "expired")
    }

    @Test func aDeviceIsConnectedTheSameWay() throws {
        let browser = TestBrowser(app)
        browser.open("/oauth/device")
        try browser.submit("/oauth/push/start", ["email": Self.address])
        try approve(browser)
        browser.open(browser.path)
        #expect(browser.path.hasPrefix("/oauth/device?"))
        #expect(list()[0]["application"] == .null)
    }

    @Test func withoutASenderItIsNotOffered() throws {
        let scene = try OAuthScene(TestApp(notifiesPhones: false))
        let browser = TestBrowser(scene.app)
        browser.open(scene.authorizePath(try scene.register()))
        #expect(!browser.answer.text.contains("/oauth/push/start"))
        let fields = [("request", query(of: browser.path)["request"]), ("email", Self.address)]
        #expect(browser.send(.post, "/oauth/push/start", fields).status == 404)
    }

    // MARK: Who is told what

    @Test func anUnknownAddressLooksLikeAKnownOne() throws {
        try app.change(
            "UPDATE users SET login_email = 'deleted@example.com', deleted_at = NOW() WHERE id = ?",
            try scene.person("gone").userID)
        try app.change(
            "UPDATE users SET login_email = 'x@device.internal' WHERE id = ?", try scene.person("odd").userID)
        let known = try waiting()
        let unknown = [
            "nobody@example.com", "deleted@example.com", "x@device.internal", "", "x", "ada@example.com ",
            String(repeating: "a", count: 5000) + "@example.com",
        ]
        for address in unknown {
            let browser = try waiting(address)
            #expect(shape(browser) == shape(known), "\(address)")
            app.time.advance(by: .seconds(1))
            // Nobody can approve it.
            #expect(decide(id(of: browser), "approve", number: try number(of: browser)).status == 404)
        }
        #expect(try list().count == 1 && app.notifications().isEmpty)
    }

    @Test func aDenialLooksLikeNoDecision() throws {
        let (denied, open) = (try waiting(), try waiting("nobody@example.com"))
        #expect(decide(id(of: denied), "deny").description == #"200 {"id":"\#(id(of: denied))","status":"denied"}"#)
        for browser in [denied, open] {
            #expect(browser.open(browser.path).status == 200 && browser.path.hasPrefix("/oauth/push?"))
        }
        #expect(shape(denied) == shape(open))
        app.time.advance(by: .seconds(180))
        let ids = [denied, open].map { id(of: $0) }
        for browser in [denied, open] {
            browser.open(browser.path)
            #expect(browser.path.hasPrefix("/oauth/login?"))
            #expect(browser.alert == EnglishTexts().notice(.notApproved))
        }
        #expect(shape(denied, ids[0]) == shape(open, ids[1]))
        #expect(try history() == ["session ios", "refused web"])
    }

    @Test func onlyTheBrowserThatBeganIsSignedIn() throws {
        let browser = try waiting()
        try approve(browser)
        let other = arriving()
        let handle = query(of: other.path)["request"] ?? ""
        let stolen = other.send(.get, "/oauth/push?request=\(handle)&id=\(id(of: browser))")
        #expect(stolen.status == 400 && stolen.header("Set-Cookie") == nil)
        #expect(TestBrowser(app).send(.get, browser.path).status == 400)
        #expect(try app.count("SELECT COUNT(*) FROM web_sessions") == 0)
        browser.open(browser.path)
        #expect(browser.cookies["__Host-merganser_session"] != nil)
    }

    @Test func itSignsInOnce() throws {
        let browser = try waiting()
        let page = browser.path
        try approve(browser)
        // HEAD uses nothing up.
        #expect(browser.send(.head, page).header("Set-Cookie") == nil)
        browser.open(page)
        #expect(browser.path.hasPrefix("/oauth/consent?"))
        browser.open(page)
        #expect(browser.path.hasPrefix("/oauth/login?"))
        #expect(try app.count("SELECT COUNT(*) FROM login_events WHERE event = 'web_login'") == 1)
    }

    @Test func aStoredApprovalDoesNotKeep() throws {
        let browser = try waiting()
        try approve(browser)
        app.time.advance(by: .seconds(60))
        browser.open(browser.path)
        #expect(browser.path.hasPrefix("/oauth/login?"))
        #expect(try app.count("SELECT COUNT(*) FROM web_sessions") == 0)
    }

    @Test func whoeverIsGoneIsNotSignedIn() throws {
        let changes: [StaticString] = [
            "UPDATE users SET deleted_at = NOW() WHERE id = ?", "DELETE FROM users WHERE id = ?",
            "UPDATE push_approval_requests SET approved_user_id = NULL WHERE approved_user_id = ?",
        ]
        for (number, change) in changes.enumerated() {
            let address = "\(number)@example.com"
            let person = try scene.person("gone \(number)", email: address)
            let browser = try waiting(address)
            #expect(
                decide(id(of: browser), "approve", number: try self.number(of: browser), by: person).status == 200)
            try app.change(change, person.userID)
            browser.open(browser.path)
            #expect(browser.cookies["__Host-merganser_session"] == nil, "\(change)")
        }
    }

    /// Who deletes the account ends what it approved, also if it is restored at once.
    @Test func aDeletionThatIsTakenBackSignsNobodyIn() throws {
        let browser = try waiting()
        try approve(browser)
        #expect(scene.client.send(.delete, "/api/v1/me", token: phone.token).status == 202)
        try app.change("UPDATE users SET deleted_at = NULL, purge_at = NULL WHERE id = ?", phone.userID)
        browser.open(browser.path)
        #expect(browser.cookies["__Host-merganser_session"] == nil)
    }

    /// One that waits and one that is approved: what ends the sessions ends them, too. Nobody is signed in, and the rest is as
    /// after any denial.
    private func expectDenied(
        by actor: String, because reason: String, notedFor user: Int? = nil,
        sourceLocation: SourceLocation = #_sourceLocation, _ end: () throws -> Answer
    ) throws {
        let (approved, open, late) = (try waiting(), try waiting(), try waiting())
        try approve(approved)
        try app.change(
            "UPDATE push_approval_requests SET expires_at = ? WHERE public_id = ?", app.time.now, id(of: late))
        app.time.advance(by: .seconds(1))
        let number = try number(of: open)
        let answer = try end()
        #expect((200..<300).contains(answer.status), "\(answer)", sourceLocation: sourceLocation)
        for browser in [approved, open] {
            browser.open(browser.path)
            #expect(browser.cookies["__Host-merganser_session"] == nil, sourceLocation: sourceLocation)
        }
        #expect(try app.count("SELECT COUNT(*) FROM web_sessions") == 0, sourceLocation: sourceLocation)
        #expect(decide(id(of: open), "approve", number: number).status >= 400, sourceLocation: sourceLocation)
        #expect(
            try app.column(
                """
                SELECT CONCAT_WS(' ', public_id, status, decided_at = ?) FROM push_approval_requests ORDER BY id
                """, app.time.now)
                == ["\(id(of: approved)) denied 1", "\(id(of: open)) denied 1", "\(id(of: late)) pending"],
            sourceLocation: sourceLocation)
        #expect(
            try app.column(
                """
                SELECT CONCAT_WS(' ', user_id, actor, details) FROM audit_log
                WHERE action = 'push_approval.decided' AND details LIKE '%denied%' ORDER BY id
                """)
                == [approved, open].map { browser in
                    #"\#(user ?? phone.userID) \#(actor) "#
                        + #"{"push_approval":"\#(id(of: browser))","decision":"denied","reason":"\#(reason)"}"#
                }, sourceLocation: sourceLocation)
        #expect(
            try app.count("SELECT COUNT(*) FROM login_events WHERE event = 'refused'") == 0,
            sourceLocation: sourceLocation)
    }

    @Test func aDeletionDeniesWhatWaits() throws {
        try expectDenied(by: "user:\(phone.userID)", because: "account_deleted") {
            scene.client.send(.delete, "/api/v1/me", token: phone.token)
        }
    }

    /// An instance whose clock is behind would still complete it.
    @Test func aDeletionDeniesWhatIsJustOver() throws {
        let browser = try waiting()
        try approve(browser)
        app.time.advance(by: .seconds(119))
        #expect(scene.client.send(.delete, "/api/v1/me", token: phone.token).status == 202)
        #expect(try app.column("SELECT status FROM push_approval_requests") == ["denied"])
    }

    @Test func withdrawnConsentDeniesWhatWaits() throws {
        try expectDenied(by: "provider:apple", because: "consent-revoked") {
            scene.client.send(
                .post, "/auth/apple/notifications",
                ["payload": .string(app.appleNotification("consent-revoked", of: "ada", id: "one"))])
        }
    }

    @Test func aCutOffDeniesWhatWaits() throws {
        try expectDenied(by: "operator", because: "operator") {
            _ = try app.operate {
                try $0.revokeSessions(of: User.ID(rawValue: Int64(phone.userID)), by: .tool)
            }
            return Answer(Response(.noContent))
        }
    }

    @Test func aMergeDeniesWhatWaitsForTheAbsorbed() throws {
        let survivor = try scene.person("survivor")
        try expectDenied(by: "user:\(survivor.userID)", because: "merged", notedFor: survivor.userID) {
            let token = scene.client.send(.post, "/api/v1/me/merge/session-token", token: phone.token)["session_token"]
            return scene.client.send(
                .post, "/api/v1/me/merge", ["target_session_token": token ?? .null], token: survivor.token)
        }
        #expect(list(survivor).map { $0["status"]?.string } == ["expired", "denied", "denied"])
    }

    /// The browser is led to nothing but the page that it set out from, whatever its address says.
    @Test func nobodyIsLedElsewhere() throws {
        for address in ["&next=https://evil.example", "&redirect_uri=https://evil.example", "&id=//evil.example"] {
            let browser = try waiting()
            try approve(browser)
            let answer = browser.send(.get, browser.path + address)
            #expect(answer.header("Location")?.hasPrefix("/oauth/") != false, "\(answer)")
            #expect(!answer.text.contains("evil.example"))
            app.time.advance(by: .seconds(600))
        }
    }

    // MARK: Decisions

    @Test func oneDecisionCounts() throws {
        let browser = try waiting()
        let number = try number(of: browser)
        try approve(browser)
        #expect("\(decide(id(of: browser), "approve", number: number))" == refusal(409, "already_decided"))
        #expect("\(decide(id(of: browser), "deny"))" == refusal(409, "already_decided"))
        #expect(list().map { $0["status"]?.string } == ["approved"])
    }

    @Test func threeWrongNumbersDeny() throws {
        let browser = try waiting()
        let number = try number(of: browser)
        for _ in 1...3 {
            #expect("\(decide(id(of: browser), "approve", number: wrong(number)))" == refusal(422, "number_mismatch"))
        }
        #expect("\(decide(id(of: browser), "approve", number: number))" == refusal(409, "already_decided"))
        #expect(list()[0]["status"] == "denied")
        #expect(try history() == ["session ios", "refused web"])
        let audited = try app.column("SELECT details FROM audit_log WHERE action = 'push_approval.decided'")
        #expect(audited.count == 1 && audited[0].contains("wrong_numbers"))
    }

    @Test func twoWrongNumbersDoNot() throws {
        let browser = try waiting()
        let number = try number(of: browser)
        for text in [wrong(number), ""] {
            #expect(decide(id(of: browser), "approve", number: text).error == "number_mismatch")
        }
        for body in [nil, ["number_match": 47], ["number_match": .null]] as [JSONValue?] {
            let answer = scene.client.send(
                .post, "\(Self.approvals)/\(id(of: browser))/approve", body, token: phone.token)
            #expect("\(answer)" == refusal(400, "invalid_request"))
        }
        try approve(browser)
    }

    @Test func afterThreeMinutesItIsLate() throws {
        let (first, second) = (try waiting(), try waiting())
        let number = try number(of: second)
        app.time.advance(by: .milliseconds(179_999))
        try approve(first)
        app.time.advance(by: .milliseconds(1))
        #expect("\(decide(id(of: second), "approve", number: number))" == refusal(409, "approval_expired"))
        #expect("\(decide(id(of: second), "deny"))" == refusal(409, "approval_expired"))
    }

    @Test func itIsNobodyElsesToDecide() throws {
        let browser = try waiting()
        let other = try scene.person("other")
        for decision in ["approve", "deny"] {
            for id in [id(of: browser), "x", String(id(of: browser).dropLast()), "1"] {
                let number = try number(of: browser)
                #expect("\(decide(id, decision, number: number, by: other))" == refusal(404, "not_found"), "\(id)")
            }
        }
        try approve(browser)
    }

    @Test func decisionsRace() throws {
        let racers = Racers(app, 8)
        for round in 1...10 {
            let address = "\(round)@example.com"
            let person = try scene.person("racer \(round)", email: address)
            let browser = try waiting(address)
            let (id, number) = (id(of: browser), try number(of: browser))
            let answers = try racers.race(
                (0..<8).map { racer in
                    RepeatableRequest(
                        method: .post, path: "\(Self.approvals)/\(id)/\(racer % 2 == 0 ? "approve" : "deny")",
                        body: ["number_match": .string(number)], token: person.token)
                })
            #expect(answers.count { $0.status == 200 } == 1 && answers.count { $0.error == "already_decided" } == 7)
        }
    }

    /// By a clock that has passed the end for one of two instances, which share the database, and an hour more for clean-up there:
    /// each request is decided once, or by nobody.
    @Test func aDecisionMeetsExpiry() throws {
        let rounds = 20
        let end = app.time.now + .seconds(60)
        let requests = try (0..<rounds).map { round in
            let address = "\(round)@example.com"
            let (person, browser) = (try scene.person("late \(round)", email: address), try waiting(address))
            let (id, number) = (id(of: browser), try number(of: browser))
            try app.change(
                "UPDATE push_approval_requests SET expires_at = ? WHERE public_id = ?", end + .seconds(3600 * round), id
            )
            let decision = round % 2 == 0 ? "approve" : "deny"
            return (
                id: id, status: round % 2 == 0 ? "approved" : "denied",
                call: RepeatableRequest(
                    method: .post, path: "\(Self.approvals)/\(id)/\(decision)",
                    body: ["number_match": .string(number)], token: person.token)
            )
        }
        let ahead = try TestApp(database: app.database, time: TestClock(end))
        let answers = app.race(3, rounds: rounds) { client, thread, round -> Answer? in
            switch thread {
            case 0: return client.send(requests[round].call)
            case 1: return ahead.client().send(requests[round].call)
            default:
                ahead.time.advance(by: .seconds(3600))
                #expect(throws: Never.self) {
                    try ahead.operate { _ = try $0.collect(.pushApprovals, loginHistory: .zero) }
                }
                return nil
            }
        }
        for (answers, request) in zip(answers, requests) {
            let (inTime, late) = (try #require(answers[0]), try #require(answers[1]))
            #expect(inTime.status == 200 || "\(inTime)" == refusal(404, "not_found"), "\(inTime)")
            #expect(
                ["approval_expired", "already_decided", "not_found"].contains(late.error ?? "\(late.status)"), "\(late)"
            )
            let left = try app.column("SELECT status FROM push_approval_requests WHERE public_id = ?", request.id)
            #expect(left.isEmpty || inTime.status == 200 && left == [request.status], "\(left)")
            let decisions = try app.count(
                "SELECT COUNT(*) FROM audit_log WHERE action = 'push_approval.decided' AND details LIKE ?",
                "%\(request.id)%")
            #expect(decisions == (inTime.status == 200 ? 1 : 0))
        }
        #expect(app.statistics.exhaustions.value == 0)
    }

    /// Ninety numbers, three tries: who guesses is one of thirty, once.
    @Test func guessesRace() throws {
        let racers = Racers(app, 8)
        let browser = try waiting()
        let (id, number) = (id(of: browser), try number(of: browser))
        let guesses = (10...99).map(String.init).filter { $0 != number }.prefix(8)
        let answers = try racers.race(
            guesses.map {
                RepeatableRequest(
                    method: .post, path: "\(Self.approvals)/\(id)/approve", body: ["number_match": .string($0)],
                    token: phone.token)
            })
        #expect(answers.count { $0.error == "number_mismatch" } == 3)
        #expect(answers.count { $0.error == "already_decided" } == 5)
        #expect(try app.column("SELECT CONCAT(tries) FROM push_approval_requests") == ["3"])
    }

    /// Two tabs of the browser look at the same moment.
    @Test func completionsRace() throws {
        for round in 1...10 {
            let browser = try waiting()
            try approve(browser)
            let path = browser.path
            let cookies = browser.cookies.map { "\($0)=\($1)" }.joined(separator: "; ")
            let racers = Racers(app, 4)
            let answers = try racers.race(
                (0..<4).map { _ in
                    RepeatableRequest(
                        method: .get, path: path, headers: [("cookie", cookies), ("accept", "text/html")])
                })
            #expect(answers.count { $0.header("Set-Cookie") != nil } == 1, "round \(round)")
            app.time.advance(by: .seconds(600))
        }
        #expect(try app.count("SELECT COUNT(*) FROM login_events WHERE event = 'web_login'") == 10)
    }

    /// The request waits for nothing while it is locked: sessions and their codes come first (accounts §0.4).
    @Test func theSessionIsReplacedBeforeTheRequestIsLocked() throws {
        let browser = try scene.signedIn("ada", email: Self.address)
        browser.open(scene.authorizePath(rp, ["prompt": "login"]))
        try browser.submit("/oauth/push/start", ["email": Self.address])
        try approve(browser)
        let cookies = browser.cookies.map { "\($0)=\($1)" }.joined(separator: "; ")
        let request = RepeatableRequest(
            method: .get, path: browser.path, headers: [("cookie", cookies), ("accept", "text/html")])
        let answer = try SwapScene(app).send(request, whileHeld: "SELECT id FROM web_sessions FOR UPDATE") { _ in
            let db = try app.database.connect()
            #expect(throws: Never.self) {
                try db.executeScript("SELECT id FROM push_approval_requests FOR UPDATE NOWAIT")
            }
        }
        #expect(answer.header("Set-Cookie") != nil, "\(answer)")
        #expect(app.database.isOnCluster || app.statistics.deadlocks.value == 0)
    }

    /// The history of a person whose rows are held is waited for before the request is locked.
    @Test func aDenialIsNotedBeforeTheRequestIsLocked() throws {
        let browser = try waiting()
        let request = RepeatableRequest(
            method: .post, path: "\(Self.approvals)/\(id(of: browser))/deny", token: phone.token)
        // The first refusal of the hour makes the counter that this one waits for.
        let other = try waiting()
        #expect(decide(id(of: other), "deny").status == 200)
        let answer = try SwapScene(app).send(request, whileHeld: "SELECT 1 FROM rate_limits FOR UPDATE") { _ in
            let db = try app.database.connect()
            #expect(throws: Never.self) {
                try db.executeScript("SELECT id FROM push_approval_requests FOR UPDATE NOWAIT")
            }
        }
        #expect(answer.status == 200, "\(answer)")
    }

    // MARK: Limits

    @Test func fiveStartsInTenMinutes() throws {
        for address in [Self.address, "nobody@example.com"] {
            for _ in 1...5 { _ = try waiting(address) }
            let browser = arriving()
            let limited = try browser.submit("/oauth/push/start", ["email": address.uppercased()])
            #expect(limited.status == 429 && limited.header("Retry-After") == "600")
            #expect(limited.header("Content-Type") == "text/html; charset=utf-8")
        }
        _ = try waiting("other@example.com")
        app.time.advance(by: .seconds(600))
        _ = try waiting()
    }

    /// The sixth start under another address of the same person looks like any other, and reaches nobody.
    @Test func aPersonWithTwoAddressesIsNotShownByTheLimit() throws {
        let absorbed = try scene.person("absorbed", email: "old@example.com")
        try app.absorb(absorbed.userID, into: phone.userID)
        for _ in 1...3 { _ = try waiting() }
        for _ in 1...3 { _ = try waiting("old@example.com") }
        #expect(list().count == 5)
    }

    // MARK: Forms

    @Test func aFormFromElsewhereIsRefused() throws {
        let browser = arriving()
        let fields = try browser.fields(of: "/oauth/push/start") + [("email", Self.address)]
        let forged = [
            fields.map { $0.0 == "token" ? ("token", "x") : $0 }, fields.filter { $0.0 != "token" },
        ]
        for form in forged { #expect(browser.send(.post, "/oauth/push/start", form).status == 403) }
        let foreign = browser.send(.post, "/oauth/push/start", fields, headers: [("origin", "https://evil.example")])
        #expect(foreign.status == 403)
        #expect(TestBrowser(app).send(.post, "/oauth/push/start", fields).status == 403)
        #expect(try app.count("SELECT COUNT(*) FROM push_approval_requests") == 0)
    }

    // MARK: Tokens of phones

    @Test func aTokenIsHexadecimal() throws {
        for token in [
            "", "x", "0", "abc", "0a 0b0c0d0e0f0a0b", String(repeating: "ab", count: 101), "../../3/device/ab",
        ] {
            #expect("\(register(phone, .string(token)))" == refusal(400, "invalid_request"), "\(token)")
        }
        for token in [nil, .null, 5] as [JSONValue?] { #expect(register(phone, token).status == 400) }
        for environment in [nil, "x", "Production", 1] as [JSONValue?] {
            #expect(register(phone, .string(Self.token), environment).status == 400)
        }
        #expect(try app.count("SELECT COUNT(*) FROM push_tokens") == 0)
        #expect(register(phone, .string(Self.token), "sandbox").status == 204)
        #expect(register(phone, .string(String(repeating: "0f", count: 8))).status == 204)
        #expect(
            try app.column("SELECT CONCAT_WS(' ', device_id, token, environment) FROM push_tokens")
                == ["\(phone.deviceID) 0f0f0f0f0f0f0f0f production"])
    }

    @Test func aPAKWithoutADeviceHasNone() throws {
        try app.change("UPDATE paks SET device_id = NULL")
        #expect("\(register(phone))" == refusal(400, "invalid_request"))
    }

    @Test func oneAppIsOneDevice() throws {
        let other = try scene.person("other")
        #expect(register(phone).status == 204 && register(other).status == 204)
        #expect(try app.column("SELECT CONCAT(device_id) FROM push_tokens") == ["\(other.deviceID)"])
    }

    @Test func anotherOwnerOfTheDeviceIsNotAsked() throws {
        #expect(register(phone).status == 204)
        let answer = scene.client.send(
            .post, "/api/v1/auth/apple/session",
            app.proof("thief").adding([
                "device_uuid": .string(phone.uuid), "platform": "ios", "device_secret": .string(phone.secret),
            ]))
        #expect(answer.status == 200)
        #expect(try app.count("SELECT COUNT(*) FROM push_tokens") == 0)
    }

    /// Whoever signed out of the app cannot answer there.
    @Test func whoSignedOutIsNotAsked() throws {
        #expect(register(phone).status == 204)
        _ = try waiting()
        #expect(try app.notifications().count == 1)
        #expect(scene.client.send(.delete, "/api/v1/auth/session", token: phone.token).status == 204)
        _ = try waiting()
        #expect(try app.notifications().count == 1)
        _ = try scene.client.reopen(phone)
        _ = try waiting()
        #expect(try app.notifications().count == 2)
    }

    /// An app that was installed anew registers while the registration of the device before is under way; that one ends last.
    @Test func ofTwoDevicesAtOnceTheLaterHasIt() throws {
        let other = try scene.anonymous()
        let db = try app.database.connect()
        try db.begin()
        // The foreign key of a new registration waits for the device's row.
        try db.execute("SELECT id FROM devices WHERE id = ? FOR UPDATE", other.deviceID)
        let late = JobThread { [app, token = Self.token] in
            let body: JSONValue = ["token": .string(token), "environment": "production"]
            let answer = app.client().send(.put, "/api/v1/me/push_token", body, token: other.token)
            try #require(answer.status == 204, "\(answer)")
        }
        try app.waitForALockWait()
        #expect(register(phone).status == 204)
        try db.commit()
        #expect(late.failure == nil)
        #expect(try app.column("SELECT CONCAT(device_id) FROM push_tokens") == ["\(other.deviceID)"])
    }

    @Test func itGoesWithTheDevice() throws {
        #expect(register(phone).status == 204)
        #expect(scene.client.send(.delete, "/api/v1/me", token: phone.token).status == 202)
        #expect(try app.count("SELECT COUNT(*) FROM push_tokens") == 0)
    }

    /// An export says that the device is notified; only the server needs to know where.
    @Test func anExportHasNoToken() throws {
        #expect(register(phone).status == 204)
        _ = try waiting()
        let export = try scene.client.send(.get, "/api/v1/me/export", token: phone.token).received()
        #expect(export["devices"]?.array?.first?["push_environment"] == "production", "\(export)")
        #expect(export["push_approvals"]?.array?.first?["ip"] == "192.0.2.7")
        #expect(!export.text.lowercased().contains(Self.token.lowercased()))
    }

    @Test func theSameOwnerKeepsIt() throws {
        #expect(register(phone).status == 204)
        _ = try scene.client.reopen(phone)
        _ = scene.client.send(
            .post, "/api/v1/auth/apple/session",
            app.proof("ada").adding(["device_uuid": .string(phone.uuid), "platform": "ios"]))
        #expect(try app.count("SELECT COUNT(*) FROM push_tokens") == 1)
    }

    // MARK: Cost

    /// However many requests there are and were.
    @Test func aListIsOneReadOfAnIndex() throws {
        let costs = try [100, 20_000].map { size in
            try app.change(
                """
                INSERT INTO push_approval_requests (requested_user_id, public_id, expires_at)
                SELECT IF(seq % 2, ?, NULL), CONCAT(?, '-', seq), NOW() FROM seq_1_to_20000 LIMIT ?
                """, phone.userID, size, size)
            try app.sql { _ = try $0.query("ANALYZE TABLE push_approval_requests PERSISTENT FOR ALL") }
            let meter = try ReadMeter(app)
            let (answer, cost) = try meter.measure { $0.send(.get, Self.approvals, token: phone.token) }
            #expect(answer["push_approvals"]?.array?.count == 20)
            return cost.rowsRead
        }
        #expect(costs[0] == costs[1] && costs[0] < 60, "\(costs)")
    }

    /// Whatever reads or moves the rows that name a person reads one index for each column, however many rows name others, or
    /// this person in the other column.
    @Test(arguments: ["requested", "approved"]) func theRowsThatNameAPersonAreReadByTheirIndexes(column: String) throws
    {
        let (other, survivor) = (try scene.person("other"), try scene.person("survivor"))
        let whose = column == "requested" ? [other.userID, phone.userID] : [phone.userID, other.userID]
        try app.change(
            """
            INSERT INTO push_approval_requests (requested_user_id, approved_user_id, status, expires_at, completed_at)
            SELECT ?, ?, 'approved', NOW(), NOW() FROM seq_1_to_5000
            """, whose[0], whose[1])
        try app.change(
            """
            INSERT INTO push_approval_requests (requested_user_id, approved_user_id, status, expires_at, completed_at)
            SELECT ?, ?, 'approved', NOW(), NOW() FROM seq_1_to_5000
            """, other.userID, other.userID)
        try app.sql { _ = try $0.query("ANALYZE TABLE push_approval_requests PERSISTENT FOR ALL") }
        let token = scene.client.send(.post, "/api/v1/me/merge/session-token", token: phone.token)["session_token"]
        try app.change("UPDATE users SET role = 'admin' WHERE id = ?", survivor.userID)
        let merge: JSONValue = ["target_session_token": token ?? .null]
        let requests: [(String, (Client) -> Answer)] = [
            ("export", { $0.send(.get, "/api/v1/me/export", token: phone.token) }),
            ("show", { $0.send(.get, "/api/v1/admin/users/\(phone.userID)", token: survivor.token) }),
            (
                "plan",
                { $0.send(.post, "/api/v1/me/merge", merge.adding(["dry_run": true]), token: survivor.token) }
            ),
            ("merge", { $0.send(.post, "/api/v1/me/merge", merge, token: survivor.token) }),
        ]
        let meter = try ReadMeter(app)
        for (name, send) in requests {
            let (answer, cost) = try meter.measure(send)
            #expect(answer.status == 200, "\(name): \(answer)")
            let lines = cost.plan.filter { ["push_approval_requests", "p", "r"].contains($0.table) }
            let keys = Set(lines.map(\.key))
            #expect(
                keys.isSuperset(of: ["push_approval_requests_requested", "push_approval_requests_approved"]),
                "\(name): \(cost.plan)")
            #expect(
                lines.allSatisfy { ["ref", "eq_ref", "const", "range"].contains($0.type) }, "\(name): \(cost.plan)")
        }
    }

    @Test func theyAreErasedAfterAnHour() throws {
        _ = try waiting()
        func erase() throws -> Int { try app.operate { try $0.collect(.pushApprovals, loginHistory: .zero) } }
        app.time.advance(by: .seconds(3600 + 179))
        #expect(try erase() == 0)
        app.time.advance(by: .seconds(1))
        #expect(try erase() == 1)
    }
}
