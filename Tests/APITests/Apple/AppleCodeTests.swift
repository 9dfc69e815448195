import Accounts
import HTTP
import IdentityTokens
import JOSE
import JSON
import MariaDB
import TestSupport
import Testing
import Threads
import Time

/// Authorization codes that come with a sign-in with Apple (accounts §4.5).
@Suite struct AppleCodeTests {
    @Test func aSessionsCodeIsExchanged() throws {
        let scene = try AppleScene()
        #expect(scene.session("ada").status == 200)
        let form = try #require(scene.forms(at: "/token").first)
        #expect(form["grant_type"] == "authorization_code" && form["code"] == "code-of-ada")
        #expect(form["client_id"] == "com.example.app" && form["redirect_uri"] == nil)
        let secret = try JWT(try #require(form["client_secret"]))
        #expect(secret.algorithm == .es256 && secret.keyID == "KEY")
        #expect(secret.claims.issuer == "TEAM" && secret.claims.subject == "com.example.app")
        #expect(secret.claims.audience == ["https://appleid.apple.com"])
        #expect(secret.claims["exp"] == .integer(scene.app.time.now.seconds + 300))
        #expect(scene.apple.requests[0].header("content-type") == "application/x-www-form-urlencoded")
        #expect(try scene.kept() == ["ada"])
        #expect(try !scene.app.database.dump().contains("refresh-ada"))
        // Again: the newer token counts.
        #expect(scene.session("ada").status == 200)
        #expect(try scene.kept() == ["ada"])
    }

    @Test func theOthersToo() throws {
        let scene = try AppleScene()
        let (phone, other) = (try scene.client.bootstrap(1), try scene.client.bootstrap(2))
        let link = "/api/v1/me/connected_identities"
        #expect(scene.client.send(.post, link, scene.proof("linked"), token: phone.token).status == 200)
        #expect(scene.session("holder", code: "").status == 200)
        #expect(try scene.kept() == ["linked"])
        let swap = "/api/v1/me/anonymous_swap"
        let preview = scene.proof("holder").adding(["dry_run": true])
        #expect(scene.client.send(.post, swap, preview, token: other.token).status == 200)
        #expect(scene.forms(at: "/token").count == 1, "a dry run uses nothing up")
        #expect(scene.client.send(.post, swap, scene.proof("holder"), token: other.token).status == 200)
        #expect(try scene.kept() == ["holder", "linked"])
    }

    @Test func aStrangersCodeIsNotExchanged() throws {
        let scene = try AppleScene()
        let phone = try scene.client.bootstrap(1)
        try scene.app.change("UPDATE paks SET revoked_at = created_at")
        for token in [nil, "lpk_live_x", phone.token] {
            let answer = scene.client.send(
                .post, "/api/v1/me/connected_identities", scene.proof("ada"), token: token)
            #expect("\(answer)" == refusal(401, "invalid_token"))
        }
        #expect(scene.forms(at: "/token").isEmpty)
    }

    @Test func aBrowsersCodeHasItsRedirectURI() throws {
        let scene = try AppleScene()
        let oauth = try OAuthScene(scene.app)
        let browser = TestBrowser(scene.app)
        browser.open(oauth.authorizePath(try oauth.register()))
        let trip = try browser.setOut()
        let finish = try browser.finish(
            trip, [("id_token", scene.app.token(for: trip, "unused", email: nil)), ("user", nil)])
        #expect(try !scene.app.database.dump().contains("refresh-unused"))
        browser.open(finish)
        let form = try #require(scene.forms(at: "/token").first)
        #expect(form["client_id"] == "com.example.web")
        #expect(form["redirect_uri"] == "https://id.example/auth/apple/web/callback")
        // The test's provider posts the code `unused`.
        #expect(try scene.kept() == ["unused"])
        #expect(try scene.app.column("SELECT apple_client_id FROM identities") == ["com.example.web"])
    }

    @Test func aCodeOfAnotherPersonIsWorthNothing() throws {
        let scene = try AppleScene()
        #expect(scene.session("ada", code: "code-of-eve").status == 200)
        #expect(try scene.kept() == [])
        #expect(scene.app.log.lines.contains { $0.contains("another person's") })
    }

    @Test func aCodeOfAnotherClientIsWorthNothing() throws {
        let scene = try AppleScene { request in
            guard case .response(let status, let headers, let body) = AppleScene.usual(request),
                let tokens = try? JSONValue(json: body)
            else { return .reset }
            let claims = TestIssuer(.apple).claims(subject: "ada").merging(["aud": "com.other"]) { $1 }
            let token = TestIssuer.token(header: TestIssuer.header(TestIssuer.rsa), claims: claims, TestIssuer.rsa)
            return .response(status: status, headers: headers, body: tokens.adding(["id_token": .string(token)]).json())
        }
        #expect(scene.session("ada").status == 200)
        #expect(try scene.kept() == [])
        #expect(scene.app.log.lines.contains { $0.contains("another client's") })
    }

    @Test func aTokenThatApplePutsTooLongIsNotKept() throws {
        for (length, kept) in [(1024, ["ada"]), (1025, [])] as [(Int, [String])] {
            let scene = try AppleScene { request in
                guard case .response(_, _, let body) = AppleScene.usual(request),
                    let tokens = try? JSONValue(json: body)
                else { return .reset }
                let token = JSONValue.string(String(repeating: "r", count: length))
                return .response(body: tokens.adding(["refresh_token": token]).json())
            }
            #expect(scene.session("ada").status == 200)
            #expect(try scene.kept() == kept, "\(length)")
            #expect(scene.session("bea", code: String(repeating: "c", count: 1025)).status == 200)
            #expect(scene.apple.requests.count == 1)
        }
    }

    /// The code of a refused link is used up; the swap that follows comes with its ticket only.
    @Test func theCodeOfALinkThatIsAnsweredWithATicketCountsForTheHolder() throws {
        let scene = try AppleScene()
        #expect(scene.session("holder", code: "").status == 200)
        let phone = try scene.client.bootstrap(1)
        let link = scene.client.send(
            .post, "/api/v1/me/connected_identities", scene.proof("holder"), token: phone.token)
        #expect(link.status == 409 && link["swap_ticket"] != nil)
        #expect(try scene.kept() == ["holder"])
    }

    // MARK: Refused

    /// Signs in on a device, with the code `code-of-` and the subject.
    private func session(_ subject: String, on device: String, _ scene: AppleScene) -> Answer {
        let body = scene.proof(subject).adding(["device_uuid": .string(device), "platform": "ios"])
        return scene.client.send(.post, "/api/v1/auth/apple/session", body)
    }

    /// Nothing waits for Apple that an identity has, and what none has is revoked when a browser's trip would be over.
    private func expectRevoked(
        _ subjects: [String], _ scene: AppleScene, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(try scene.dispatch() == 0, sourceLocation: sourceLocation)
        scene.app.time.advance(by: .seconds(660))
        #expect(try scene.dispatch() == subjects.count, sourceLocation: sourceLocation)
        let revoked = scene.forms(at: "/revoke").compactMap { $0["token"] }
        #expect(revoked.sorted() == subjects.map { "refresh-\($0)" }, sourceLocation: sourceLocation)
    }

    @Test func theTokenOfARefusedSignInIsKeptAtItsIdentity() throws {
        let scene = try AppleScene()
        #expect(scene.session("ada", code: "").status == 200)
        let other = try scene.phone("evelyn")
        #expect(session("ada", on: other.uuid, scene).status == 409)
        #expect(try scene.kept() == ["ada", "evelyn"])
        try expectRevoked([], scene)
    }

    @Test func theTokenOfARefusedNewcomerIsRevoked() throws {
        let scene = try AppleScene()
        let phone = try scene.phone("evelyn")
        #expect(session("new", on: phone.uuid, scene).status == 409)
        let link = scene.client.send(
            .post, "/api/v1/me/connected_identities", scene.proof("second"), token: phone.token)
        #expect("\(link)" == refusal(422, "provider_already_connected"))
        let swap = scene.client.send(
            .post, "/api/v1/me/anonymous_swap", scene.proof("third"), token: try scene.client.bootstrap(1).token)
        #expect("\(swap)" == refusal(422, "identity_does_not_resolve_to_existing_account"))
        #expect(try scene.kept() == ["evelyn"])
        try expectRevoked(["new", "second", "third"], scene)
    }

    /// Until then a restoration has it.
    @Test(arguments: [false, true]) func theTokenOfADeletedAccountIsRevoked(isRestored: Bool) throws {
        let scene = try AppleScene()
        let phone = try scene.phone("ada")
        #expect(scene.client.send(.deletion(by: phone.token)).status == 202)
        #expect(try scene.dispatch() == 1)
        #expect(scene.session("ada").error == "account_deleted")
        #expect(try scene.kept() == [])
        if isRestored {
            try scene.app.operate { try $0.restoreUser(User.ID(rawValue: Int64(phone.userID)), by: .tool) }
            #expect(try scene.kept() == ["ada"])
        }
        scene.app.time.advance(by: .seconds(660))
        #expect(try scene.dispatch() == (isRestored ? 0 : 1))
    }

    /// Whatever becomes of the sign-in: the database gives up after the exchange.
    @Test func theTokenOfAFailedSignInIsKeptOrRevoked() throws {
        let scene = try AppleScene()
        try scene.app.sql { try $0.executeScript("RENAME TABLE paks TO elsewhere") }
        #expect(scene.session("ada").status == 500)
        try scene.app.sql { try $0.executeScript("RENAME TABLE elsewhere TO paks") }
        try expectRevoked(["ada"], scene)
    }

    // MARK: Browsers

    /// Signed in with Google as somebody who has no account otherwise.
    private func googler(_ scene: AppleScene) throws -> (browser: TestBrowser, OAuthScene) {
        let oauth = try OAuthScene(scene.app)
        let browser = TestBrowser(scene.app)
        browser.open(oauth.authorizePath(try oauth.register()))
        try browser.signIn(with: .google, as: "g", email: "g@gmail.com")
        return (browser, oauth)
    }

    /// Whether it is confirmed or not: the identity proved that it consents.
    @Test(arguments: [false, true]) func aMergeTripKeepsTheTokenAtTheIdentity(isConfirmed: Bool) throws {
        let scene = try AppleScene()
        #expect(scene.session("unused", code: "").status == 200)
        let (browser, _) = try googler(scene)
        browser.open("/account/merge")
        try browser.signIn(with: .apple, as: "unused", email: nil)
        #expect(browser.path.hasPrefix("/account/merge/apple?h="))
        if isConfirmed {
            try browser.submit(browser.path)
            #expect(browser.path == "/account?notice=merged")
        }
        #expect(try scene.kept() == ["unused"])
        try expectRevoked([], scene)
    }

    @Test(arguments: [false, true]) func aLinkTripThatIsNotConfirmedLeavesNone(isConfirmed: Bool) throws {
        let scene = try AppleScene()
        let (browser, _) = try googler(scene)
        browser.open("/account/link")
        try browser.signIn(with: .apple, as: "unused", email: nil)
        scene.app.time.advance(by: .seconds(599))
        #expect(try scene.dispatch() == 0)
        if isConfirmed { try browser.submit(browser.path) }
        #expect(try scene.kept() == (isConfirmed ? ["unused"] : []))
        try expectRevoked(isConfirmed ? [] : ["unused"], scene)
    }

    /// Of four workers, one is free whatever Apple does, and one network holds no more than two.
    @Test func whoFindsNoPlaceSignsInWithoutTheExchange() throws {
        let isOver = Monitor(false)
        let scene = try AppleScene(workers: 4) { request in
            _ = isOver.wait(atMost: .seconds(50)) { $0 ? true : nil }
            return AppleScene.usual(request)
        }
        let hanging = ["ada", "bea"].map { subject in
            Thread { [app = scene.app, proof = scene.proof(subject)] in
                _ = app.client().send(.post, "/api/v1/auth/apple/session", proof)
            }
        }
        #expect(scene.apple.waitForRequests(2))
        #expect(scene.session("cleo").status == 200)
        #expect(scene.apple.requests.count == 2)
        #expect(scene.app.log.lines.contains { $0.hasPrefix("notice Apple's code was not exchanged") })
        isOver.change { $0 = true }
        for thread in hanging { thread.join() }
        #expect(try scene.app.count("SELECT COUNT(*) FROM identities") == 3)
    }

    @Test(
        arguments: [
            .response(status: 400, body: Array(#"{"error":"invalid_grant"}"#.utf8)), .response(status: 500),
            .response(body: Array("{}".utf8)), .response(body: Array(#"{"refresh_token":"r","id_token":"x"}"#.utf8)),
            .response(status: 302, headers: [("location", "/token")]), .reset, .silence, .endless,
            .response(body: Array(repeating: 0x20, count: 70_000) + Array("{}".utf8)),
            .response(body: Array(#"{"refresh_token":7,"id_token":[]}"#.utf8)), .response(body: Array("[".utf8)),
        ] as [LocalHTTPServer.Reply])
    func aFailedExchangeFailsNothing(reply: LocalHTTPServer.Reply) throws {
        let scene = try AppleScene { _ in reply }
        #expect(scene.session("ada", code: "a-secret-code").status == 200)
        #expect(try scene.kept() == [])
        #expect(scene.apple.requests.count == 1)
        #expect(scene.app.log.lines.contains { $0.hasPrefix("warning Apple's code was not exchanged") })
        #expect(!scene.app.log.lines.contains { $0.contains("a-secret-code") })
    }

    @Test func otherwiseItIsIgnored() throws {
        let scene = try AppleScene()
        let google = scene.app.proof("ada", of: .google).adding(["authorization_code": "code-of-ada"])
        #expect(scene.client.send(.post, "/api/v1/auth/google/session", google).status == 200)
        let malformed = scene.app.proof("ada").adding(["authorization_code": 7])
        #expect(scene.client.send(.post, "/api/v1/auth/apple/session", malformed).status == 400)
        // A refused token's code is left alone.
        let refused = scene.proof("ada").adding(["identity_token": "a.b.c"])
        #expect(scene.client.send(.post, "/api/v1/auth/apple/session", refused).status == 422)
        #expect(scene.apple.requests.isEmpty)
        let app = try TestApp()
        #expect(app.client().send(.post, "/api/v1/auth/apple/session", scene.proof("ada")).status == 200)
    }
}
