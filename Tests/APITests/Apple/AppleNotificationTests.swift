import Accounts
import HTTP
import IdentityTokens
import JOSE
import JSON
import MariaDB
import TestSupport
import Testing
import Time

/// `POST /auth/apple/notifications` (accounts §4.5).
@Suite struct AppleNotificationTests {
    let scene: OAuthScene
    let app: TestApp
    let person: Phone

    init() throws {
        scene = try OAuthScene()
        app = scene.app
        person = try scene.person("ada", email: "ada@icloud.com")
    }

    private func payload(
        _ type: String, of subject: String = "ada", id: String = "one", asText: Bool = true,
        _ changes: [String: JSONValue?] = [:]
    ) -> String {
        app.appleNotification(type, of: subject, id: id, asText: asText, changes)
    }

    @discardableResult
    private func notify(_ payload: String) -> Answer {
        scene.client.send(.post, "/auth/apple/notifications", ["payload": .string(payload)])
    }

    private func subjects() throws -> [String] { try app.column("SELECT sub FROM identities ORDER BY sub") }

    @Test(arguments: [true, false]) func withdrawnConsentSignsOut(asText: Bool) throws {
        let browser = try scene.signedIn("ada", email: "ada@icloud.com")
        let shop = try scene.register()
        let tokens = try scene.signIn(shop, as: person)
        #expect("\(notify(payload("consent-revoked", asText: asText)))" == "200 {}")
        #expect(scene.client.send(.get, "/api/v1/me", token: person.token).status == 401)
        browser.open(scene.authorizePath(shop))
        #expect(browser.path.hasPrefix("/oauth/login"))
        // What other applications got is theirs.
        #expect(scene.userInfo(tokens.access).status == 200)
        #expect(try subjects() == ["ada"])
        #expect(
            try app.column(
                "SELECT CONCAT_WS(' ', user_id, actor, action, details) FROM audit_log WHERE actor = 'provider:apple'")
                == [
                    #"\#(person.userID) provider:apple apple.notified {"type":"consent-revoked"}"#,
                    #"\#(person.userID) provider:apple pak.revoked {"count":1,"reason":"consent-revoked"}"#,
                ])
    }

    @Test(arguments: ["account-delete", "account-deleted"]) func aDeletedAccountLosesItsIdentity(type: String) throws {
        let google = app.proof("g", of: .google).adding(["provider": "google"])
        let link = scene.client.send(.post, "/api/v1/me/connected_identities", google, token: person.token)
        #expect(link.status == 200)
        #expect(notify(payload(type)).status == 200)
        #expect(try subjects() == ["g"])
        // Its address, too, which only Apple vouched for.
        #expect(try app.column("SELECT COALESCE(login_email, 'none') FROM users") == ["none"])
        #expect(scene.client.send(.get, "/api/v1/me", token: person.token).status == 200)
    }

    @Test func theLastIdentityTakesTheAccountAlong() throws {
        let shop = try scene.register()
        _ = try scene.signIn(shop, as: person)
        #expect(notify(payload("account-delete")).status == 200)
        #expect(try subjects() == [])
        try app.expectEnded(person.userID)
        #expect(try app.count("SELECT COUNT(*) FROM users WHERE deleted_at IS NOT NULL") == 1)
        #expect(try app.events(at: shop.id).last?.hasPrefix("user.deleted") == true)
        // Apple gives nobody else the subject; whoever has it is somebody new.
        #expect(try scene.person("ada", email: nil).userID != person.userID)
    }

    @Test func ofAnAbsorbedAccount() throws {
        let survivor = try scene.person("survivor", email: nil)
        try app.absorb(person.userID, into: survivor.userID)
        #expect(notify(payload("consent-revoked")).status == 200)
        #expect(scene.client.send(.get, "/api/v1/me", token: survivor.token).status == 401)
        #expect(notify(payload("account-delete", id: "two")).status == 200)
        #expect(try subjects() == ["survivor"])
        #expect(try app.count("SELECT COUNT(*) FROM users WHERE deleted_at IS NOT NULL") == 0)
    }

    @Test func forwardingIsKept() throws {
        func forwards() throws -> [String] {
            try app.column("SELECT COALESCE(CAST(forwards_email AS CHAR), 'NULL') FROM identities")
        }
        #expect(try forwards() == ["NULL"])
        notify(payload("email-disabled"))
        #expect(try forwards() == ["0"])
        notify(payload("email-enabled", id: "two"))
        #expect(try forwards() == ["1"])
    }

    @Test func eachActsOnce() throws {
        let consent = payload("consent-revoked")
        #expect(notify(consent).status == 200)
        let again = try scene.person("ada", email: nil)
        #expect("\(notify(consent))" == "200 {}")
        #expect(scene.client.send(.get, "/api/v1/me", token: again.token).status == 200)
        // Sixteen at once, too.
        let deletion = payload("account-delete", id: "two")
        let answers = app.atOnce(16) { client, _ in
            client.send(.post, "/auth/apple/notifications", ["payload": .string(deletion)])
        }
        #expect(answers.allSatisfy { $0.status == 200 })
        #expect(try app.count("SELECT COUNT(*) FROM audit_log WHERE action = 'apple.notified'") == 2)
    }

    // MARK: Late

    /// Of a time by the clock of the test, in milliseconds.
    private func milliseconds(_ offset: Int64) -> JSONValue {
        .integer(Timestamp(seconds: 1_778_569_200).milliseconds + offset)
    }

    private func audited() throws -> [String] {
        try app.column("SELECT details FROM audit_log WHERE action = 'apple.notified' ORDER BY id")
    }

    @Test(arguments: ["consent-revoked", "account-delete", "account-deleted"])
    func whatWasBeforeTheNewestSignInIsOnlyRecorded(type: String) throws {
        app.time.advance(by: .seconds(60))
        let again = try scene.person("ada", email: nil)
        let now = app.time.now.seconds
        let late: [String] = [
            app.appleNotification(type, of: "ada", id: "0"),
            app.appleNotification(type, of: "ada", id: "1", at: milliseconds(59_999)),
            // As Apple documents it.
            app.appleNotification(type, of: "ada", id: "2", at: .integer(now - 1)),
            app.appleNotification(type, of: "ada", id: "3", at: nil, ["iat": .integer(now - 1)]),
            // Nothing is told of before it happens.
            app.appleNotification(type, of: "ada", id: "4", at: milliseconds(90_000), ["iat": .integer(now - 1)]),
        ]
        for payload in late + late { #expect("\(notify(payload))" == "200 {}") }
        #expect(scene.client.send(.get, "/api/v1/me", token: again.token).status == 200)
        #expect(try subjects() == ["ada"])
        #expect(try audited() == [String](repeating: #"{"late":true,"type":"\#(type)"}"#, count: 5))
        // Of the same second.
        #expect(notify(app.appleNotification(type, of: "ada", id: "5", at: milliseconds(60_000))).status == 200)
        #expect(scene.client.send(.get, "/api/v1/me", token: again.token).status == 401)
        #expect(try audited().last == #"{"type":"\#(type)"}"#)
    }

    /// An old identity token is worth no more than when it was made, and a newer one stays the newest.
    @Test func aTokenFromBeforeDoesNotHideIt() throws {
        let old = app.proof("ada")
        app.time.advance(by: .seconds(60))
        #expect(scene.client.send(.post, "/api/v1/auth/apple/session", old).status == 200)
        notify(app.appleNotification("consent-revoked", of: "ada", id: "1", at: milliseconds(30_000)))
        #expect(scene.client.send(.get, "/api/v1/me", token: person.token).status == 401)
        let again = try scene.person("ada", email: nil)
        #expect(scene.client.send(.post, "/api/v1/auth/apple/session", old).status == 200)
        notify(app.appleNotification("consent-revoked", of: "ada", id: "2", at: milliseconds(30_000)))
        #expect(scene.client.send(.get, "/api/v1/me", token: again.token).status == 200)
    }

    @Test func whatWasBeforeTheLinkIsOnlyRecorded() throws {
        let path = "/api/v1/me/connected_identities"
        let google = app.proof("g", of: .google).adding(["provider": "google"])
        #expect(scene.client.send(.post, path, google, token: person.token).status == 200)
        #expect(scene.client.send(.delete, path + "/apple", token: person.token).status == 200)
        app.time.advance(by: .seconds(60))
        let apple = app.proof("ada").adding(["provider": "apple"])
        #expect(scene.client.send(.post, path, apple, token: person.token).status == 200)
        for type in ["account-delete", "consent-revoked", "email-disabled"] { notify(payload(type, id: type)) }
        #expect(try subjects() == ["ada", "g"])
        #expect(scene.client.send(.get, "/api/v1/me", token: person.token).status == 200)
        #expect(try app.count("SELECT COUNT(*) FROM identities WHERE forwards_email IS NOT NULL") == 0)
        // Of an earlier release, which knew the time of the link only.
        try app.change("UPDATE identities SET consented_at = NULL, forwarding_changed_at = NULL")
        for type in ["account-delete", "email-disabled"] { notify(payload(type, id: "again \(type)")) }
        #expect(try subjects() == ["ada", "g"])
        #expect(try app.count("SELECT COUNT(*) FROM identities WHERE forwards_email IS NOT NULL") == 0)
    }

    /// A sign-in says nothing of mail; a notification of a later time does.
    @Test func theNewestWordOnMailCounts() throws {
        app.time.advance(by: .seconds(60))
        _ = try scene.person("ada", email: nil)
        func forwards() throws -> [String] {
            try app.column("SELECT COALESCE(CAST(forwards_email AS CHAR), 'NULL') FROM identities")
        }
        notify(app.appleNotification("email-enabled", of: "ada", id: "1", at: milliseconds(20_000)))
        #expect(try forwards() == ["1"])
        notify(app.appleNotification("email-disabled", of: "ada", id: "2", at: milliseconds(10_000)))
        #expect(try forwards() == ["1"])
        notify(app.appleNotification("email-disabled", of: "ada", id: "3", at: milliseconds(30_000)))
        #expect(try forwards() == ["0"])
    }

    @Test func ofNobodyItKnowsOrOfWhatItDoesNot() throws {
        let before = try app.count("SELECT COUNT(*) FROM audit_log")
        #expect("\(notify(payload("consent-revoked", of: "nobody")))" == "200 {}")
        #expect("\(notify(payload("something-new", id: "two")))" == "200 {}")
        #expect(try app.count("SELECT COUNT(*) FROM audit_log") == before)
        #expect(scene.client.send(.get, "/api/v1/me", token: person.token).status == 200)
    }

    @Test func whatIsRefused() throws {
        let now = app.time.now.seconds
        let cases: [(String, String)] = [
            (payload("consent-revoked", ["iss": "https://evil.example"]), "wrong issuer"),
            (payload("consent-revoked", ["aud": "com.other"]), "wrong audience"),
            (payload("consent-revoked", ["iat": nil]), "not yet valid"),
            (payload("consent-revoked", ["iat": .integer(now + 61)]), "not yet valid"),
            (payload("consent-revoked", ["iat": .integer(now - 86_461)]), "expired"),
            (payload("consent-revoked", ["exp": .integer(now - 61)]), "expired"),
            (payload("consent-revoked", ["exp": "soon"]), "expired"),
            (payload("consent-revoked", ["nbf": .integer(now + 61)]), "not yet valid"),
            (payload("consent-revoked", ["jti": nil]), "malformed token"),
            (payload("consent-revoked", ["events": nil]), "malformed token"),
            (payload("consent-revoked", ["events": "{"]), "malformed token"),
            (payload("consent-revoked", ["events": ["type": "consent-revoked"]]), "malformed token"),
            (payload("consent-revoked", of: ""), "malformed token"),
            (payload("consent-revoked", ["jti": .string(String(repeating: "j", count: 256))]), "malformed token"),
            (payload("consent-revoked", ["events": "\"{}\""]), "malformed token"),
            (payload("consent-revoked", ["events": []]), "malformed token"),
            ("a.b.c", "malformed token"),
            (app.issuer(.apple).token(), "malformed token"),
            (app.issuer(.apple).token(kid: "gone"), "unknown key"),
            (signed("RS256", by: TestIssuer.otherRSA), "bad signature"),
            (signed("none", by: TestIssuer.rsa), "unsupported alg"),
            (signed("HS256", by: TestIssuer.rsa), "unsupported alg"),
        ]
        try app.expectUnchanged {
            for (payload, reason) in cases { #expect("\(notify(payload))" == invalidIdentityToken(reason)) }
            let bodies: [JSONValue] = [[:], ["payload": .null], ["payload": ""], ["payload": 7], []]
            for body in bodies {
                let answer = scene.client.send(.post, "/auth/apple/notifications", body)
                #expect("\(answer)" == refusal(400, "invalid_request"), "\(body)")
            }
        }
        // As late, and as long, as may be.
        #expect(notify(payload("email-enabled", id: "two", ["exp": 1e300])).status == 200)
        #expect(notify(payload("email-enabled", ["iat": .integer(now - 86_459)])).status == 200)
    }

    /// A good payload with another header or key.
    private func signed(_ algorithm: String, by signer: Signer) -> String {
        let claims = app.appleNotificationClaims("consent-revoked", of: "ada", id: "one", asText: true)
        let header: [String: JSONValue] = ["alg": .string(algorithm), "kid": .string(TestIssuer.rsa.keyID)]
        return TestIssuer.token(header: header, claims: claims, signer)
    }

    @Test func ofADeletedAccount() throws {
        #expect(scene.client.send(.deletion(by: person.token)).status == 202)
        #expect(notify(payload("consent-revoked")).status == 200)
        #expect(try subjects() == ["ada"])
        #expect(notify(payload("account-delete", id: "two")).status == 200)
        #expect(try subjects() == [])
        #expect(try app.count("SELECT COUNT(*) FROM users WHERE deleted_at IS NOT NULL") == 1)
        #expect(try app.count("SELECT COUNT(*) FROM audit_log WHERE action = 'user.deleted'") == 1)
    }

    @Test func cleanUpErasesWhatWouldBeRefused() throws {
        func erase() throws -> Int { try app.operate { try $0.collect(.appleNotifications, loginHistory: .zero) } }
        let consent = payload("consent-revoked")
        #expect(notify(consent).status == 200)
        app.time.advance(by: .seconds(86_459))
        #expect("\(notify(consent))" == "200 {}")
        #expect(try erase() == 0)
        app.time.advance(by: .seconds(1))
        #expect("\(notify(consent))" == invalidIdentityToken("expired"))
        app.time.advance(by: .seconds(59))
        #expect(try erase() == 0)
        app.time.advance(by: .seconds(1))
        #expect(try erase() == 1)
    }
}
