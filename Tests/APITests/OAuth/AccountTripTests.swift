import HTTP
import IdentityTokens
import JSON
import TestSupport
import Testing

@testable import Pages

/// Adding a way to sign in, and merging two accounts of one person, in the browser (accounts §4.8).
@Suite struct AccountTripTests {
    let scene: OAuthScene

    init() throws { scene = try OAuthScene() }

    private var app: TestApp { scene.app }
    private let texts = EnglishTexts()
    private let cookie = "__Host-merganser_session"

    /// Somebody who signs in with Google alone, with their user id.
    private func googler(_ subject: String = "bea-google", email: String = "bea@gmail.com") throws -> Int {
        let answer = scene.client.send(
            .post, "/api/v1/auth/google/session", app.proof(subject, of: .google, email: email))
        try #require(answer.status == 200, "\(answer)")
        return try #require(answer["user"]?["id"]?.integer)
    }

    /// Out to Google and back, as far as the page that asks.
    private func travel(
        _ purpose: String, _ browser: TestBrowser, as subject: String = "bea-google", email: String? = "bea@gmail.com"
    ) throws {
        browser.open("/account/\(purpose)")
        try browser.signIn(with: .google, as: subject, email: email)
    }

    private func says(_ browser: TestBrowser, _ notice: AccountPage.Notice) -> Bool {
        browser.path == "/account?notice=\(notice.rawValue)" && browser.answer.status == 200
            && browser.answer.text.contains(texts.account.notice(notice))
    }

    private func users() throws -> Int { try app.count("SELECT COUNT(*) FROM users") }

    // MARK: One more way to sign in

    /// Of the browsers that an anonymous account let in, the one in which it is promoted goes on.
    @Test func theBrowserThatPromotesStaysSignedIn() throws {
        let browser = try scene.signedIn()
        _ = try scene.signedIn()
        try app.change("DELETE FROM identities")
        try app.change("UPDATE users SET anonymous = TRUE, login_email = NULL, contact_email = NULL")
        browser.open("/account/link")
        let trip = try browser.setOut(to: .google)
        try browser.comeBack(trip, [("id_token", app.token(for: trip, "bea-google", email: "bea@gmail.com"))])
        try browser.submit(browser.path)
        #expect(says(browser, .methodAdded))
        #expect(try app.count("SELECT COUNT(*) FROM users WHERE anonymous") == 0)
        #expect(try app.count("SELECT COUNT(*) FROM web_sessions") == 1)
    }

    @Test func aWayToSignInIsAdded() throws {
        let browser = try scene.signedIn()
        browser.open("/account")
        #expect(browser.links.contains("/account/link"))
        browser.open("/account/link")
        // Only what is not there yet.
        #expect(!browser.links.contains { $0.hasPrefix("/auth/apple/") })
        let trip = try browser.setOut(to: .google)
        #expect(trip.parameters["prompt"] == "select_account")
        let session = browser.cookies[cookie]
        try browser.comeBack(trip, [("id_token", app.token(for: trip, "bea-google", email: "bea@gmail.com"))])
        let page = browser.path
        #expect(page.hasPrefix("/account/link/google?h="))
        #expect(browser.answer.text.contains("bea@gmail.com") && browser.answer.text.contains("bea@example.com"))
        // Nothing has happened yet.
        #expect(try app.column("SELECT provider FROM identities") == ["apple"])
        #expect(browser.cookies[cookie] == session)
        try browser.submit(page)
        #expect(says(browser, .methodAdded))
        #expect(
            try app.column("SELECT CONCAT_WS(' ', provider, sub, email) FROM identities ORDER BY id")
                == ["apple subject bea@example.com", "google bea-google bea@gmail.com"])
        #expect(try users() == 1)
        #expect(try app.count("SELECT COUNT(*) FROM provider_sign_ins") == 0)
        browser.open("/account/link")
        #expect(says(browser, .noOtherMethod))
    }

    /// An address leads nowhere: neither to its owner, nor away from the account that is signed in.
    @Test func onlyTheSubjectCounts() throws {
        let ada = try scene.person("ada", email: "ada@icloud.com")
        let browser = try scene.signedIn()
        browser.open("/account/link")
        try browser.signIn(with: .google, as: "new", email: "ada@icloud.com")
        try browser.submit(browser.path)
        #expect(says(browser, .methodAdded))
        let owner = "SELECT user_id FROM identities WHERE sub = 'new'" as StaticString
        #expect(try app.count(owner) != ada.userID)
        #expect(
            try app.column("SELECT login_email FROM users WHERE id = ?", ada.userID) == ["ada@icloud.com"])
        #expect(try users() == 2)
    }

    @Test func whatIsTakenIsNotLinked() throws {
        let google = try googler()
        let browser = try scene.signedIn()
        try app.expectUnchangedButTrips {
            try travel("link", browser)
            #expect(says(browser, .ownedByAnother))
            browser.open("/account/link")
        }
        try app.change("UPDATE users SET deleted_at = NOW(3), purge_at = NOW(3) WHERE id = ?", google)
        try travel("link", browser)
        #expect(says(browser, .otherDeleted))
        try app.change("UPDATE identities SET sub = 'moved', provider = 'google' WHERE sub = 'subject'")
        try travel("merge", browser, as: "moved")
        #expect(says(browser, .alreadyYours))
        #expect(try users() == 2)
    }

    @Test func whoTurnsBackIsToldSo() throws {
        let browser = try scene.signedIn()
        for purpose in ["link", "merge"] {
            browser.open("/account/\(purpose)")
            let trip = try browser.setOut(to: .google)
            try browser.comeBack(trip, [("error", "access_denied")])
            #expect(says(browser, .cancelled))
            browser.open("/account/\(purpose)")
            try browser.comeBack(try browser.setOut(to: .google), [("id_token", "x.y.z")])
            #expect(says(browser, .failed))
        }
        #expect(try app.count("SELECT COUNT(*) FROM provider_sign_ins") == 0)
    }

    @Test func ofTwoTabsOneAddsTheProvider() throws {
        let browser = try scene.signedIn()
        let forms = try ["one", "two"].map { subject in
            try travel("link", browser, as: subject, email: nil)
            return (browser.path, encoded(try browser.fields(of: browser.path)))
        }
        let header = browser.cookies.map { "\($0)=\($1)" }.joined(separator: "; ")
        let locations = app.atOnce(2) { client, number in
            client.send(.post, forms[number].0, bytes: forms[number].1, headers: [("cookie", header)]).header(
                "Location")
        }
        #expect(Set(locations) == ["/account?notice=method_added", "/account?notice=provider_connected"])
        #expect(try app.count("SELECT COUNT(*) FROM identities") == 2)
    }

    // MARK: Whose trip

    @Test func aTripIsItsBrowsersItsUsersAndForItsPurpose() throws {
        _ = try googler()
        let browser = try scene.signedIn()
        try travel("merge", browser)
        let page = browser.path
        #expect(page.hasPrefix("/account/merge/google?h="))
        // The same person in another browser.
        let other = try scene.signedIn()
        other.open(page)
        #expect(says(other, .tripGone))
        for path in [
            page.replacing("merge", with: "link"), page.replacing("google", with: "apple"), "\(page)x",
            "/account/merge/google", "/account/merge/google?h=", "/account/merge/facebook?h=x",
        ] {
            browser.open(path)
            #expect(says(browser, .tripGone), "\(path)")
        }
        browser.open(page)
        let asked = try browser.fields(of: page)
        // Somebody else signs in meanwhile.
        browser.open(scene.authorizePath(try scene.register(), ["prompt": "login"]))
        try browser.signIn(as: "ada", email: "ada@example.com")
        browser.open(page)
        #expect(says(browser, .tripGone))
        #expect(browser.send(.post, page, asked).header("Location") == page)
        let ada = try app.count("SELECT user_id FROM identities WHERE sub = 'ada'")
        let forged = asked.map { ($0.0, $0.0 == "account" ? "\(ada)" : $0.1) }
        #expect(browser.send(.post, page, forged).header("Location") == "/account?notice=trip_gone")
        #expect(try app.count("SELECT COUNT(*) FROM identity_links") == 0)
    }

    /// The way back of a sign-in is no proof for a link, and that of a link signs nobody in.
    @Test func signingInAndLinkingAreTwoThings() throws {
        let browser = try scene.signedIn()
        browser.open(scene.authorizePath(try scene.register(), ["prompt": "login"]))
        let trip = try browser.setOut(to: .google)
        let finish = try browser.finish(trip, [("id_token", app.token(for: trip, "bea-google"))])
        browser.open("/account/link/google?h=\(query(of: finish)["h"] ?? "")")
        #expect(says(browser, .tripGone))

        browser.open("/account/link")
        let link = try browser.setOut(to: .google)
        let end = try browser.finish(link, [("id_token", app.token(for: link, "bea-google"))])
        let stranger = TestBrowser(app)
        #expect(stranger.open(end).status == 400)
        #expect(stranger.cookies[cookie] == nil)
        // Again and again, until it is confirmed.
        for _ in 1...2 {
            browser.open(end)
            #expect(browser.path.hasPrefix("/account/link/google?h="))
        }
        #expect(try app.column("SELECT provider FROM web_sessions") == ["apple"])
    }

    @Test func aTripEndsAfterTenMinutes() throws {
        let browser = try scene.signedIn()
        try travel("link", browser)
        let page = browser.path
        let form = try browser.fields(of: page)
        app.time.advance(by: .seconds(600))
        #expect(browser.send(.post, page, form).header("Location") == "/account?notice=trip_gone")
        browser.open(page)
        #expect(says(browser, .tripGone))
        #expect(try app.count("SELECT COUNT(*) FROM identities") == 1)
    }

    @Test(arguments: ["link", "merge"]) func aRecentSignInIsNeeded(_ purpose: String) throws {
        let browser = try scene.signedIn()
        app.time.advance(by: .seconds(600))
        try travel(purpose, browser)
        if purpose == "merge" { #expect(says(browser, .nobody)) }
        let page = "/account/\(purpose)"
        app.time.advance(by: .seconds(301))
        browser.open(page)
        #expect(browser.path.hasPrefix("/oauth/login?"))
        try browser.signIn()
        #expect(browser.path == page)
    }

    /// The sign-in was recent when the trip began, and is not any more.
    @Test func theProofWaitsForAnotherSignIn() throws {
        let browser = try scene.signedIn()
        app.time.advance(by: .seconds(890))
        try travel("link", browser)
        let page = browser.path
        let form = try browser.fields(of: page)
        app.time.advance(by: .seconds(20))
        let login = try #require(browser.send(.post, page, form).header("Location"))
        #expect(login.hasPrefix("/oauth/login?"))
        browser.open(login)
        try browser.signIn()
        #expect(browser.path == page)
        try browser.submit(page)
        #expect(says(browser, .methodAdded))
    }

    // MARK: Merging

    @Test func twoAccountsAreMerged() throws {
        let google = try googler()
        try app.change("UPDATE users SET name = 'Bea at Google' WHERE id = ?", google)
        let browser = try scene.signedIn()
        let survivor = try app.count("SELECT user_id FROM identities WHERE sub = 'subject'")
        try travel("merge", browser)
        let page = browser.path
        for text in [
            "Bea at Google", "bea@gmail.com", "bea@example.com", texts.account.movedMethods(1),
            texts.account.mergeEffect,
        ] {
            #expect(browser.answer.text.contains(text), "\(text)")
        }
        #expect(try app.count("SELECT COUNT(*) FROM identity_links") == 0)
        try browser.submit(page)
        #expect(says(browser, .merged))
        #expect(
            try app.column(
                """
                SELECT CONCAT_WS(' ', l.primary_user_id, l.linked_user_id, l.merged_via, l.idempotency_key = CONCAT('st:', t.id),
                                 t.used_at IS NOT NULL, t.user_id, t.sealed_token IS NULL)
                FROM identity_links l JOIN merge_tokens t
                """) == ["\(survivor) \(google) session_token 1 1 \(google) 1"])
        #expect(try app.count("SELECT COUNT(DISTINCT user_id) FROM identities") == 1)
        #expect(browser.answer.text.contains("bea@gmail.com"))
        #expect(
            try app.column("SELECT actor FROM audit_log WHERE action = 'user.merged'") == ["user:\(survivor)"])
        // The proof is used up.
        browser.open(page)
        #expect(says(browser, .tripGone))
    }

    @Test func twoClicksMergeOnce() throws {
        _ = try googler()
        let browser = try scene.signedIn()
        try travel("merge", browser)
        let (page, form) = (browser.path, encoded(try browser.fields(of: browser.path)))
        let header = browser.cookies.map { "\($0)=\($1)" }.joined(separator: "; ")
        let locations = app.atOnce(4) { client, _ in
            client.send(.post, page, bytes: form, headers: [("cookie", header)]).header("Location")
        }
        #expect(locations.filter { $0 == "/account?notice=merged" }.count == 1)
        #expect(locations.filter { $0 == "/account?notice=trip_gone" }.count == 3)
        #expect(try app.count("SELECT COUNT(*) FROM merge_tokens") == 1)
    }

    @Test func whatMovesIsWhatWasShown() throws {
        let google = try googler()
        let browser = try scene.signedIn()
        try travel("merge", browser)
        let page = browser.path
        let shop = try scene.register()
        try app.change(
            """
            INSERT INTO grants (user_id, application_id, sub, scopes) VALUES (?, ?, 'x', 'openid')
            """, google, shop.id)
        try browser.submit(page)
        #expect(browser.path == "\(page)&changed=1" && browser.alert == texts.account.mergeChanged)
        #expect(browser.answer.text.contains(texts.account.movedApps(1)))
        #expect(try app.count("SELECT COUNT(*) FROM identity_links") == 0)
        #expect(try app.count("SELECT COUNT(*) FROM merge_tokens") == 0)
        try browser.submit(page)
        #expect(says(browser, .merged))
        #expect(try app.count("SELECT COUNT(*) FROM grants WHERE user_id = ?", google) == 0)
    }

    /// More than one transaction of a cluster moves: of the question, and of its answer if they come meanwhile.
    @Test func anAccountWithTooManySignInsIsNotMerged() throws {
        let google = try googler()
        let browser = try scene.signedIn()
        try travel("merge", browser)
        let (page, form) = (browser.path, try browser.fields(of: browser.path))
        try app.change(
            "INSERT INTO login_events (user_id, event) SELECT ?, 'signed_in' FROM seq_1_to_25001", google)
        #expect(browser.send(.post, page, form).header("Location") == "/account?notice=too_large")
        browser.open(page)
        #expect(says(browser, .tooLarge) && browser.alert == texts.account.notice(.tooLarge))
        #expect(try users() == 2)
    }

    @Test func onlyAnAccountThatIsThereIsMerged() throws {
        let browser = try scene.signedIn()
        try travel("merge", browser)
        #expect(says(browser, .nobody))
        #expect(try users() == 1)
        browser.open("/account/merge")
        try browser.signIn()
        #expect(says(browser, .alreadyYours))
        let google = try googler()
        try travel("merge", browser)
        let (page, form) = (browser.path, try browser.fields(of: browser.path))
        try app.change("UPDATE users SET deleted_at = NOW(3), purge_at = NOW(3) WHERE id = ?", google)
        #expect(browser.send(.post, page, form).header("Location") == "/account?notice=other_deleted")
        browser.open(page)
        #expect(says(browser, .otherDeleted))
        #expect(try app.count("SELECT COUNT(*) FROM identity_links") == 0)
    }

    @Test func nobodyElsesPageSendsTheForm() throws {
        _ = try googler()
        let browser = try scene.signedIn()
        try travel("merge", browser)
        let (page, form) = (browser.path, try browser.fields(of: browser.path))
        try app.expectUnchanged {
            for forgery in [[], form.filter { $0.0 != "token" }, form.map { ($0.0, $0.0 == "token" ? "x" : $0.1) }] {
                #expect(browser.send(.post, page, forgery).status == 403)
            }
            #expect(browser.send(.post, page, form, headers: [("origin", "https://evil.example")]).status == 403)
            #expect(browser.send(.post, page, form.filter { $0.0 != "plan" }).status == 400)
        }
    }
}

extension TestApp {
    /// Trips, and what waits for them, come and go.
    fileprivate func expectUnchangedButTrips(_ requests: () throws -> Void) throws {
        func rows() throws -> [String] {
            try column(
                """
                SELECT CONCAT_WS(' ', (SELECT COUNT(*) FROM users), (SELECT GROUP_CONCAT(user_id, sub ORDER BY id) FROM identities),
                                 (SELECT COUNT(*) FROM identity_links), (SELECT COUNT(*) FROM swap_tickets),
                                 (SELECT COUNT(*) FROM audit_log), (SELECT COUNT(*) FROM login_events))
                """)
        }
        let before = try rows()
        try requests()
        #expect(try rows() == before)
    }
}
