import HTTP
import JOSE
import JSON
import MariaDB
import TestSupport
import Testing
import Text
import Time

@testable import API
@testable import Accounts
@testable import Pages

/// Signing out of a web session, and who is told (accounts §3.7).
@Suite struct LogoutTests {
    let scene: OAuthScene
    let app: TestApp
    let shop: TestClient
    let club: TestClient

    private static let afterwards = "https://shop.example/bye?a=1"

    init() throws {
        scene = try OAuthScene()
        app = scene.app
        shop = try scene.register("Shop", redirectURIs: ["https://shop.example/cb"], firstParty: true)
        club = try scene.register("Club", redirectURIs: ["https://club.example/cb"], firstParty: true)
        try app.change(
            """
            UPDATE applications
            SET backchannel_logout_uri = 'https://shop.example/logout', post_logout_redirect_uris = JSON_ARRAY(?)
            WHERE id = ?
            """, Self.afterwards, shop.id)
    }

    /// A browser goes through an authorize request; its person is signed in.
    private func signIn(_ browser: TestBrowser, at rp: TestClient, _ more: KeyValuePairs<String, String?> = [:]) throws
        -> Tokens
    {
        browser.open(scene.authorizePath(rp, more))
        return try Tokens(scene.exchange(try #require(browser.code, "\(browser.answer)"), by: rp))
    }

    private func sid(_ tokens: Tokens) throws -> String? { try tokens.idClaims.string("sid") }

    /// The queue, as `application sub sid`.
    private func queue() throws -> [String] {
        try app.sql { db in
            try db.all("SELECT application_id, sub, sid FROM logout_tokens ORDER BY id") { row in
                let (application, sub) = (try row.read(Int.self), try row.read(String.self))
                return "\(application) \(sub) \(try row.read([UInt8]?.self).map(Base64URL.encode) ?? "all")"
            }
        }
    }

    private func sub(_ tokens: Tokens) throws -> String { try #require(tokens.idClaims.subject) }

    private func isSignedIn(_ browser: TestBrowser) -> Bool {
        browser.send(.get, scene.authorizePath(shop, ["prompt": "none"])).header("Location")?.contains("code=") == true
    }

    // MARK: The session's name

    @Test func aSessionHasANameAtEachApplication() throws {
        let browser = try scene.signedIn()
        let (first, second) = (try signIn(browser, at: shop), try signIn(browser, at: shop))
        let elsewhere = try signIn(browser, at: club)
        let name = try #require(try sid(first))
        #expect(name.wholeMatch(of: /[A-Za-z0-9_\-]{22}/) != nil)
        #expect(try sid(second) == name, "it is the same session")
        #expect(try sid(elsewhere) != name && sid(elsewhere) != nil, "applications cannot compare")
        #expect(try sid(signIn(scene.signedIn(), at: shop)) != name, "another browser's is another session")

        // It is repeated on refresh, and outlives the session.
        var tokens = try Tokens(scene.refresh(first.refresh, by: shop))
        #expect(try sid(tokens) == name)
        app.time.advance(by: .seconds(13 * 3600))
        _ = try app.operate { try $0.collect(.webSessions, loginHistory: .zero) }
        #expect(try app.count("SELECT COUNT(*) FROM web_sessions") == 0)
        tokens = try Tokens(scene.refresh(tokens.refresh, by: shop))
        #expect(try sid(tokens) == name)
    }

    @Test func signInsOutsideOfBrowsersHaveNone() throws {
        let person = try scene.person()
        #expect(try scene.signIn(shop, as: person).idClaims["sid"] == nil)
        let device = try scene.device(shop)
        _ = scene.decide("approve", device, as: person)
        #expect(try Tokens(scene.poll(device, by: shop)).idClaims["sid"] == nil)
    }

    @Test func aNewSignInOfTheSamePersonGoesOn() throws {
        let browser = try scene.signedIn()
        let before = try signIn(browser, at: shop)
        browser.open(scene.authorizePath(shop, ["prompt": "login"]))
        try browser.signIn()
        let after = try Tokens(scene.exchange(try #require(browser.code), by: shop))
        #expect(try sid(after) == sid(before) && queue() == [])
        browser.open("/session/logout")
        try browser.submit("/session/logout")
        #expect(try queue() == ["\(shop.id) \(sub(before)) \(sid(before) ?? "")"])
    }

    @Test func theSignInOfSomebodyElseEndsTheSession() throws {
        let browser = try scene.signedIn()
        let before = try signIn(browser, at: shop)
        browser.open(scene.authorizePath(shop, ["prompt": "login"]))
        try browser.signIn(as: "other", email: nil)
        let after = try Tokens(scene.exchange(try #require(browser.code), by: shop))
        #expect(try sub(after) != sub(before) && sid(after) != sid(before))
        #expect(try queue() == ["\(shop.id) \(sub(before)) \(sid(before) ?? "")"])
    }

    // MARK: Who is told

    @Test func signingOutTellsWhoWasSignedInToThroughTheSession() throws {
        let (browser, other) = (try scene.signedIn(), try scene.signedIn())
        let tokens = try signIn(browser, at: shop)
        _ = try (signIn(browser, at: shop), signIn(browser, at: club), signIn(other, at: shop))
        browser.open("/session/logout")
        #expect(try queue() == [])
        try browser.submit("/session/logout")
        // Once for the grant; not the club, which has no URI for it; nor for the session of another browser.
        #expect(try queue() == ["\(shop.id) \(sub(tokens)) \(sid(tokens) ?? "")"])
        #expect(!isSignedIn(browser) && isSignedIn(other))
        // Tokens are the relying party's affair.
        #expect(scene.refresh(tokens.refresh, by: shop).status == 200)
    }

    @Test func aSignInThatNeverHappenedIsNotTold() throws {
        let browser = try scene.signedIn()
        browser.open(scene.authorizePath(shop))
        try #require(browser.code != nil)
        app.time.advance(by: .seconds(301))
        browser.open("/session/logout")
        try browser.submit("/session/logout")
        #expect(try queue() == [])
    }

    /// Otherwise the relying party would have a sign-in that nobody tells it the end of.
    @Test(arguments: [false, true]) func aCodeOfASessionThatEndedIsVoid(somebodyElseSignsIn: Bool) throws {
        let browser = try scene.signedIn()
        browser.open(scene.authorizePath(shop))
        let code = try #require(browser.code)
        if somebodyElseSignsIn {
            browser.open(scene.authorizePath(shop, ["prompt": "login"]))
            try browser.signIn(as: "other", email: nil)
        } else {
            browser.open("/session/logout")
            try browser.submit("/session/logout")
        }
        #expect(scene.exchange(code, by: shop).error == "invalid_grant")
    }

    enum Ending: CaseIterable { case promotion, merge, withdrawnConsent }

    /// The same, if the server itself ends the session.
    @Test(arguments: Ending.allCases) func aCodeOfASessionThatTheServerEndedIsVoid(_ ending: Ending) throws {
        let (browser, phone) = (try scene.signedIn(), try scene.person())
        browser.open(scene.authorizePath(shop))
        let (code, native) = (try #require(browser.code), try scene.code(shop, as: phone))
        switch ending {
        case .promotion:
            try app.change("UPDATE users SET anonymous = TRUE")
            _ = try scene.person()
        case .merge:
            let survivor = try scene.person("survivor", email: nil)
            let path = "/api/v1/me/merge"
            let token = scene.client.send(.post, "\(path)/session-token", token: phone.token)["session_token"]
            let answer = scene.client.send(
                .post, path, ["target_session_token": token ?? .null], token: survivor.token)
            #expect(answer.status == 200, "\(answer)")
        case .withdrawnConsent:
            let payload = app.appleNotification("consent-revoked", of: "subject", id: "one")
            let answer = scene.client.send(.post, "/auth/apple/notifications", ["payload": .string(payload)])
            #expect(answer.status == 200, "\(answer)")
        }
        #expect(!isSignedIn(browser))
        #expect(scene.exchange(code, by: shop).error == "invalid_grant")
        // No session's.
        #expect(scene.exchange(native, by: shop).status == 200)
    }

    @Test func aCodeOutlivesANewSignInOfTheSamePerson() throws {
        let browser = try scene.signedIn()
        browser.open(scene.authorizePath(shop))
        let code = try #require(browser.code)
        browser.open(scene.authorizePath(shop, ["prompt": "login"]))
        try browser.signIn()
        #expect(scene.exchange(code, by: shop).status == 200)
    }

    @Test func disconnectingTellsOfEverySession() throws {
        let browser = try scene.signedIn()
        let tokens = try signIn(browser, at: shop)
        let phone = try scene.person()
        #expect(try "\(phone.userID)" == sub(tokens))
        for rp in [shop, club] {
            _ = try signIn(browser, at: rp)
            let path = "/api/v1/me/connected_apps/\(rp.clientID)"
            #expect(scene.client.send(.delete, path, token: phone.token).status == 204)
        }
        #expect(try queue() == ["\(shop.id) \(sub(tokens)) all"])
        // It knows already when the session ends.
        browser.open("/session/logout")
        try browser.submit("/session/logout")
        #expect(try queue().count == 1)
    }

    /// One session, many applications: each gets a token of its own.
    @Test func everyApplicationOfTheSessionIsTold() throws {
        let others = try (1...6).map { number in
            try scene.register("RP \(number)", redirectURIs: ["https://rp\(number).example/cb"], firstParty: true)
        }
        try app.change("UPDATE applications SET backchannel_logout_uri = CONCAT('https://rp.example/', id)")
        let browser = try scene.signedIn()
        let signIns = try (others + [shop]).map { ($0, try signIn(browser, at: $0)) }
        browser.open("/session/logout")
        try browser.submit("/session/logout")
        let expected = try signIns.map { rp, tokens in "\(rp.id) \(try sub(tokens)) \(try sid(tokens) ?? "")" }
        #expect(try Set(queue()) == Set(expected) && queue().count == 7)
        #expect(Set(try signIns.map { try sid($0.1) }).count == 7)
    }

    /// Codes are erased after a month, but not those of a session that stands.
    @Test func anOldSignInIsNotForgotten() throws {
        let browser = try scene.signedIn()
        let tokens = try signIn(browser, at: shop)
        let gone = try scene.signedIn()
        _ = try (signIn(gone, at: shop), signIn(gone, at: club))
        func collect() throws -> Int {
            try app.operate { try $0.collect(.authorizationCodes, loginHistory: .zero) }
        }
        let handle = try #require(
            try app.sql { db in
                try db.first("SELECT handle FROM web_sessions ORDER BY id LIMIT 1") { row in try row.read([UInt8].self)
                }
            })
        app.time.advance(by: .seconds(31 * 86_400))
        // As if its person had signed in again every day.
        try app.change(
            "UPDATE web_sessions SET last_used_at = ?, expires_at = ? WHERE handle = ?", app.time.now,
            app.time.now + .seconds(3600), handle)
        #expect(try app.operate { try $0.collect(.webSessions, loginHistory: .zero) } == 1)
        #expect(try collect() == 2)
        browser.open("/session/logout")
        try browser.submit("/session/logout")
        #expect(try queue() == ["\(shop.id) \(sub(tokens)) \(sid(tokens) ?? "")"])
        #expect(try collect() == 1)
        #expect(try app.count("SELECT COUNT(*) FROM authorization_codes") == 0)
    }

    /// A sign-out meets an authorize request: the code that is issued belongs to a session that stands, or its relying
    /// party is told.
    @Test func noSignInSlipsThrough() throws {
        for _ in 1...12 {
            let browser = try scene.signedIn()
            browser.open("/session/logout")
            let form = try browser.fields(of: "/session/logout")
            let cookies = browser.cookies.map { "\($0)=\($1)" }.joined(separator: "; ")
            let path = scene.authorizePath(shop)
            let answers = app.atOnce(2) { client, thread in
                thread == 0
                    ? client.send(
                        .post, "/session/logout", bytes: encoded(form),
                        headers: [("cookie", cookies), ("origin", "null")])
                    : client.send(.get, path, headers: [("cookie", cookies)])
            }
            #expect(answers[0].status == 303)
            let hasCode = answers[1].header("Location")?.contains("code=") == true
            #expect(try queue().count == (hasCode ? 1 : 0), "\(answers[1])")
            try app.change("DELETE FROM logout_tokens")
        }
    }

    // MARK: Logout tokens

    @Test func aLogoutTokenSaysWhatEnded() throws {
        let browser = try scene.signedIn()
        let tokens = try signIn(browser, at: shop)
        browser.open("/session/logout")
        try browser.submit("/session/logout")
        let accounts = app.service.accounts
        let claimed = try app.operate { transaction in
            let due = try LogoutDelivery.dueTargets(
                transaction.connection, at: app.time.now, of: app.service.accounts)
            return try LogoutDelivery.claim(
                for: due.map { ($0, 10) }, at: app.time.now, of: accounts, in: transaction)
        }
        let logout = try #require(claimed.first)
        #expect(claimed.count == 1 && logout.url == "https://shop.example/logout" && logout.attempt == 1)
        let (text, again) = (try logout.token(), try logout.token())
        let jwt = try JWT(text)
        try app.sql { try jwt.verify(with: accounts.signingKeys.keySet($0)) }
        #expect(jwt.type == "logout+jwt" && jwt.algorithm == .rs256)
        let claims = try payload(of: text)
        let now = Int64(app.time.now.seconds)
        #expect(
            claims == [
                "iss": .string(TestApp.issuer), "aud": .string(shop.clientID), "iat": .integer(now),
                "exp": .integer(now + 120), "jti": claims["jti"] ?? .null,
                "events": ["http://schemas.openid.net/event/backchannel-logout": [:]],
                "sub": .string(try sub(tokens)), "sid": .string(try #require(try sid(tokens))),
            ])
        #expect(try payload(of: again)["jti"] != claims["jti"], "each attempt is signed anew")
    }

    // MARK: At a relying party's wish

    private func logoutPath(_ parameters: [(String, String?)]) -> String {
        "/oauth/logout?" + String(decoding: encoded(parameters), as: UTF8.self)
    }

    @Test func aHintOfThisSessionSignsOutAtOnce() throws {
        let browser = try scene.signedIn()
        let tokens = try signIn(browser, at: shop)
        app.time.advance(by: .seconds(3600))
        let path = logoutPath([
            ("id_token_hint", tokens.id), ("post_logout_redirect_uri", Self.afterwards), ("state", "a b&c"),
        ])
        // Whoever checks the link signs nobody out. (The session's use is noted before.)
        _ = browser.send(.get, "/session/logout")
        try app.expectUnchanged { #expect(browser.send(.head, path).status == 303) }
        let answer = browser.send(.get, path)
        #expect(answer.status == 303 && answer.header("Location") == Self.afterwards + "&state=a%20b%26c")
        #expect(!isSignedIn(browser))
        #expect(try queue().count == 1)
        // Again: there is nothing to end.
        #expect(browser.send(.get, path).header("Location") == Self.afterwards + "&state=a%20b%26c")
        #expect(try queue().count == 1)
    }

    @Test func everythingElseIsAskedFirst() throws {
        let browser = try scene.signedIn()
        let other = try signIn(scene.signedIn("other", email: nil), at: shop)
        let (mine, club) = (try signIn(browser, at: shop), try signIn(browser, at: club))
        let native = try scene.signIn(shop, as: scene.person())
        let mineID = try #require(mine.id)
        let forged = mineID.dropLast(4) + "AAAA"
        let access = mine.access
        let hints: [[(String, String?)]] = [
            [], [("client_id", shop.clientID)], [("id_token_hint", "x")], [("id_token_hint", String(forged))],
            [("id_token_hint", other.id)], [("id_token_hint", native.id)], [("id_token_hint", access)],
            [("id_token_hint", mineID), ("client_id", self.club.clientID)],
            [("id_token_hint", club.id), ("client_id", shop.clientID)],
        ]
        for hint in hints {
            try app.expectUnchanged {
                browser.open(logoutPath(hint))
                #expect(browser.answer.status == 200 && browser.heading == EnglishTexts().signOutQuestion, "\(hint)")
            }
        }
        #expect(isSignedIn(browser))
    }

    @Test func afterTheQuestionTheBrowserGoesBack() throws {
        let browser = try scene.signedIn()
        _ = try signIn(browser, at: shop)
        browser.open(
            logoutPath([("client_id", shop.clientID), ("post_logout_redirect_uri", Self.afterwards), ("state", "x")]))
        #expect(
            browser.answer.header("Content-Security-Policy")?.contains("form-action 'self' https://shop.example")
                == true)
        let form = try browser.fields(of: "/session/logout")
        // The form is the page's own.
        for name in ["token", "logout"] {
            let changed = form.map { ($0.0, $0.0 == name ? $0.1.map { String($0.dropLast(2)) + "AA" } : $0.1) }
            #expect(browser.send(.post, "/session/logout", changed).status == 403, "\(name)")
        }
        #expect(isSignedIn(browser))
        try browser.submit("/session/logout")
        #expect(browser.answer.status == 303 && browser.landed == Self.afterwards + "&state=x")
        #expect(!isSignedIn(browser))
        #expect(try queue().count == 1)
    }

    @Test func onlyARegisteredURIIsGoneTo() throws {
        let browser = try scene.signedIn()
        let tokens = try signIn(browser, at: shop)
        try app.change("UPDATE applications SET post_logout_redirect_uris = NULL WHERE id = ?", club.id)
        func location(_ uri: String, _ more: [(String, String?)]) -> String? {
            TestBrowser(app).send(.get, logoutPath([("post_logout_redirect_uri", uri)] + more)).header("Location")
        }
        let hint = [("id_token_hint", tokens.id)]
        #expect(location(Self.afterwards, hint) == Self.afterwards)
        #expect(location(Self.afterwards, [("client_id", shop.clientID)]) == Self.afterwards)
        for uri in [
            Self.afterwards + "2", String(Self.afterwards.dropLast()), Self.afterwards.uppercased(),
            "https://evil.example/", shop.redirectURI, "//evil.example", "",
        ] {
            #expect(location(uri, hint) == "/session/logout", "\(uri)")
        }
        for more in [[], [("client_id", club.clientID)], [("client_id", "logi_none")], [("id_token_hint", "x")]] {
            #expect(location(Self.afterwards, more) == "/session/logout", "\(more)")
        }
        try app.change("UPDATE applications SET status = 'suspended' WHERE id = ?", shop.id)
        #expect(location(Self.afterwards, hint) == "/session/logout")
    }

    @Test func aPostComesWithoutCookiesAndLeadsToAGet() throws {
        let browser = try scene.signedIn()
        let tokens = try signIn(browser, at: shop)
        func post(_ form: [(String, String?)]) -> Answer {
            scene.client.send(
                .post, "/oauth/logout", bytes: encoded(form),
                headers: [
                    ("content-type", "application/x-www-form-urlencoded"), ("origin", "https://shop.example"),
                    ("accept", "text/html"),
                ])
        }
        let form = [
            ("id_token_hint", tokens.id), ("post_logout_redirect_uri", Optional(Self.afterwards)), ("state", "a b&c"),
        ]
        let before = try app.database.dump()
        let answer = post(form)
        let path = try #require(answer.header("Location"))
        #expect(answer.status == 303 && path.hasPrefix("/oauth/logout?request="))
        #expect(try !path.contains(#require(tokens.id)) && app.database.dump() == before)
        // In another browser it signs nobody out.
        let stranger = try scene.signedIn("stranger", email: nil)
        stranger.open(path)
        #expect(stranger.heading == EnglishTexts().signOutQuestion)
        #expect(browser.send(.get, path).header("Location") == Self.afterwards + "&state=a%20b%26c")
        #expect(!isSignedIn(browser) && isSignedIn(stranger))

        #expect(post(form + [("state", "twice")]).status == 400)
        #expect(post([("state", String(repeating: "x", count: 2001))]).status == 400)
        #expect(browser.send(.get, "/oauth/logout?request=x").status == 400)
        for name in ["id_token_hint", "client_id", "post_logout_redirect_uri", "state"] {
            #expect(browser.send(.get, "/oauth/logout?\(name)=a&\(name)=a").status == 400, "\(name)")
        }
        app.time.advance(by: .seconds(900))
        #expect(browser.send(.get, path).status == 400, "the handle has expired")
    }
}
