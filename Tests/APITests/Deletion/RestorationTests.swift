import Accounts
import HTTP
import IdentityTokens
import JOSE
import JSON
import MariaDB
import TestSupport
import Testing
import Time

/// Deletions that are taken back (accounts §4.5).
@Suite struct RestorationTests {
    let scene: OAuthScene
    let app: TestApp
    let shop: TestClient
    let person: Phone

    init() throws {
        app = try TestApp(settings: AccountsSettings(issuer: TestApp.issuer, restoresWithinGrace: true))
        scene = try OAuthScene(app)
        shop = try scene.register("Shop")
        person = try scene.person()
        _ = try scene.signIn(shop, as: person)
    }

    private func delete() throws {
        try #require(scene.client.send(.deletion(by: person.token)).status == 202)
    }

    private func session(_ proof: JSONValue, with provider: String = "apple") -> Answer {
        scene.client.send(.post, "/api/v1/auth/\(provider)/session", proof)
    }

    private var isLive: Bool {
        get throws {
            try app.count("SELECT COUNT(*) FROM users WHERE id = ? AND deleted_at IS NULL", person.userID) == 1
        }
    }

    @Test func byAnOperator() throws {
        let before = try app.column("SELECT CONCAT_WS(' ', name, contact_email, login_email, role) FROM users")
        let tokens = try scene.signIn(shop, as: person)
        try delete()
        try app.change("DELETE FROM webhook_outbox")
        try app.restore(person.userID)
        #expect(try isLive)
        #expect(try app.column("SELECT CONCAT_WS(' ', name, contact_email, login_email, role) FROM users") == before)
        #expect(try app.count("SELECT COUNT(*) FROM users WHERE purge_at IS NOT NULL") == 0)
        let sub = person.userID
        #expect(
            try app.events(at: shop.id)
                == [#"user.restored {"canonical_sub":"\#(sub)","linked_subs":[],"sub":"\#(sub)"}"#])
        #expect(
            try app.column("SELECT CONCAT_WS(' ', user_id, actor, action) FROM audit_log ORDER BY id DESC LIMIT 1")
                == ["\(sub) operator user.restored"])
        // Nothing else comes back, and new consent has the old sub.
        try app.expectEnded(sub)
        #expect(scene.userInfo(tokens.access).status == 401)
        #expect(scene.refresh(tokens.refresh, by: shop).error == "invalid_grant")
        let phone = try scene.person()
        #expect(phone.userID == sub)
        let again = try scene.signIn(shop, as: phone)
        #expect(try again.idClaims.string("sub") == "\(sub)")
        // And it can be deleted anew.
        #expect(scene.client.send(.deletion(by: phone.token)).status == 202)
        #expect(try app.events(at: shop.id).filter { $0.hasPrefix("user.deleted") }.count == 1)
    }

    @Test func onlyWhatIsDeletedAndInItsGrace() throws {
        func refused(_ user: Int) throws -> String {
            try #require(throws: RefusedOperation.self) { try app.restore(user) }.description
        }
        #expect(try refused(person.userID) == "user \(person.userID) is not deleted")
        #expect(try refused(4711) == "there is no user 4711")
        try delete()
        app.time.advance(by: .seconds(30 * 86_400))
        #expect(
            try refused(person.userID)
                == "the grace of user \(person.userID) ended at 2026-06-11T07:00:00Z; it is purged next")
        #expect(try !isLive)
    }

    @Test func theAddressOnlyIfItIsFree() throws {
        try delete()
        let other = try scene.person("other")
        try app.restore(person.userID)
        #expect(
            try app.column(
                "SELECT COALESCE(login_email, 'none') FROM users WHERE id IN (?, ?) ORDER BY id", person.userID,
                other.userID)
                == ["none", "bea@example.com"])
    }

    // MARK: By a sign-in

    @Test func byASession() throws {
        try delete()
        // The tests' key sets do not last for a month.
        try app.change("UPDATE users SET purge_at = ?", app.time.now + .seconds(1))
        let answer = session(app.proof(email: "bea@example.com"))
        #expect(answer["user"]?["id"]?.integer == person.userID, "\(answer)")
        #expect(try isLive)
        #expect(try app.events(at: shop.id).last?.hasPrefix("user.restored") == true)
        #expect(
            try app.column("SELECT CONCAT_WS(' ', actor, action) FROM audit_log WHERE action = 'user.restored'")
                == ["user:\(person.userID) user.restored"])
        #expect(scene.client.send(.get, "/api/v1/me", token: answer["access_token"]?.string).status == 200)
        // Once: the next one is a sign-in like any other.
        #expect(session(app.proof()).status == 200)
        #expect(try app.events(at: shop.id).filter { $0.hasPrefix("user.restored") }.count == 1)
    }

    @Test func byASignInOnTheWeb() throws {
        try delete()
        let browser = try scene.signedIn()
        #expect(browser.path.hasPrefix("/oauth/consent"))
        #expect(try isLive)
        #expect(try app.column("SELECT event FROM login_events WHERE event = 'refused'") == [])
    }

    @Test func notAfterTheGrace() throws {
        try delete()
        try app.change("UPDATE users SET purge_at = ?", app.time.now)
        #expect(
            "\(session(app.proof()))" == #"422 {"error":"account_deleted","purge_at":"2026-05-12T07:00:00Z"}"#)
        #expect(try !isLive)
    }

    /// What is refused for another reason restores nobody: neither by a refused session, which is rolled back, nor by a
    /// refused sign-in on the web, which is not.
    @Test func notByARefusedSignIn() throws {
        let absorbed = try scene.person("absorbed", email: "mina@icloud.com")
        try scene.merge(absorbed.userID, into: person.userID)
        try delete()
        let other = app.proof("new", email: "mina@icloud.com")
        #expect(session(other).error == "email_linked_to_other_apple_account")
        _ = try scene.signedIn("new", email: "mina@icloud.com")
        #expect(try !isLive)
        // Another provider's is linked, and so restores.
        try app.change("UPDATE users SET login_email = 'mina@gmail.com' WHERE id = ?", absorbed.userID)
        let linked = session(app.proof("google", of: .google, email: "mina@gmail.com"), with: "google")
        #expect(linked["user"]?["id"]?.integer == person.userID, "\(linked)")
        #expect(try isLive)
    }

    @Test func notByALinkOrASwap() throws {
        try delete()
        let phone = try scene.anonymous()
        for path in ["connected_identities", "anonymous_swap"] {
            let answer = scene.client.send(
                .post, "/api/v1/me/\(path)", app.proof().adding(["provider": "apple"]), token: phone.token)
            #expect("\(answer)" == DeletionTests.deleted)
        }
        #expect(try !isLive)
    }
}
