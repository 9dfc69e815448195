import FaultProxy
import Foundation
import MerganserClient
import Synchronization
import TestSupport
import Testing

@testable import MerganserAuth

/// The server's own app with the real server. Each test has a server of its own.
@Suite(.serialized) struct AccountSessionTests {
    private let deployment: Deployment

    init() throws { deployment = try Deployment() }

    @Test func aDeviceHasAGuest() async throws {
        let store = InMemoryStore()
        let session = try deployment.accountSession(store)
        #expect(await session.state == .signedOut(.neverSignedIn))
        await #expect(throws: MerganserError.signedOut(.neverSignedIn)) { try await session.profile() }
        let guest = try await session.bootstrap()
        #expect(guest.anonymous)
        #expect(await session.state == .guest(guest))

        // The next launch knows it without a request.
        let requests = deployment.proxy.exchanges.count
        #expect(try await deployment.accountSession(store).bootstrap() == guest)
        #expect(deployment.proxy.exchanges.count == requests)
    }

    @Test func parallelBootstrapsAreOne() async throws {
        let session = try deployment.accountSession()
        let accounts = try await withThrowingTaskGroup(of: Account.self) { group in
            for _ in 0..<10 { group.addTask { try await session.bootstrap() } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(accounts.count == 1)
        #expect(deployment.proxy.count("/api/v1/devices") == 1)
    }

    @Test func aGuestBecomesAKnownUser() async throws {
        let session = try deployment.accountSession()
        let guest = try await session.bootstrap()
        let outcome = try await session.link(deployment.credential("person", email: "person@example.com"))
        guard case .linked(let account) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(account.id == guest.id && !account.anonymous)
        #expect(await session.state == .known(account))
        #expect(try await session.identities().map(\.provider) == ["apple"])
    }

    /// One sign-in sheet: the refused link's ticket serves preview and swap.
    @Test func aGuestSwapsIntoAnAccount() async throws {
        let owner = try await deployment.accountSession().signIn(with: deployment.credential("person"))
        let session = try deployment.accountSession()
        let guest = try await session.bootstrap()
        guard case .ownedByAnotherAccount(let ticket) = try await session.link(deployment.credential("person")) else {
            Issue.record("the provider belongs to another account")
            return
        }
        #expect(!"\(ticket)".contains("swt_"))
        let preview = try await session.preview(ticket)
        #expect(preview.user == owner)
        #expect(await session.state == .guest(guest))
        let result = try await session.swap(ticket, as: preview)
        #expect(result.account == owner)
        #expect(result.merged == preview.merged)
        #expect(await session.state == .known(owner))
        #expect(try await session.profile().id == owner.id)
        #expect(try deployment.count("SELECT COUNT(*) FROM users") == 1)
        // The device's new secret works.
        try deployment.run("UPDATE paks SET revoked_at = NOW(3)")
        #expect(try await session.profile().id == owner.id)
    }

    /// Each request that may sign somebody in names the id under which the app reports now.
    @Test func anAppsAnonymousIDsAreKeptWithItsDevice() async throws {
        let reported = Atomic(0)
        let session = try deployment.accountSession(anonymousID: {
            "owl_anon_\(reported.add(1, ordering: .relaxed).newValue)"
        })
        try await session.bootstrap()
        try await deployment.accountSession().signIn(with: deployment.credential("person"))
        guard case .ownedByAnotherAccount(let ticket) = try await session.link(deployment.credential("person")) else {
            Issue.record("the provider belongs to another account")
            return
        }
        try await session.swap(ticket)
        try await session.signIn(with: deployment.credential("person"))
        #expect(
            try deployment.count(
                "SELECT COUNT(*) FROM device_anonymous_ids WHERE anonymous_id = CONCAT('owl_anon_', id)") == 4)
    }

    /// What the user saw is what happens, or nothing.
    @Test func aSwapIsHeldToItsPlan() async throws {
        try await deployment.accountSession().signIn(with: deployment.credential("person"))
        let app = try await deployment.app()
        guard case .ownedByAnotherAccount(let ticket) = try await app.account.link(deployment.credential("person"))
        else {
            Issue.record("the provider belongs to another account")
            return
        }
        let preview = try await app.account.preview(ticket)
        try await deployment.session(InMemoryStore(), browser: app).signIn()
        let refusal = await #expect(throws: MerganserError.self) {
            try await app.account.swap(ticket, as: preview)
        }
        guard case .server(412, "plan_changed", _) = refusal else {
            Issue.record("\(String(describing: refusal))")
            return
        }
        let now = try await app.account.preview(ticket)
        #expect(now.rps.map(\.fate) == [.transferred])
        let none = try await app.account.preview(ticket, moving: SwapSelection(applications: []))
        #expect(none.rps.map(\.fate) == [.dropped])
        #expect(try await app.account.swap(ticket, as: now).merged.rps.transferred == 1)
    }

    @Test func oneAccountAbsorbsAnother() async throws {
        let (survivor, other) = (try deployment.accountSession(), try deployment.accountSession())
        let account = try await survivor.signIn(with: deployment.credential("person"))
        let absorbed = try await other.bootstrap()
        let result = try await survivor.merge(.token(try await other.mergeToken()))
        #expect(result.primaryUserID == account.id && result.linkedUserID == absorbed.id)
        // Its token died, and its device belongs to the survivor.
        #expect(try await other.profile().id == account.id)
        #expect(await other.state == .known(account))
        // A refused token is not taken for one's own.
        let refusal = await #expect(throws: MerganserError.self) {
            try await survivor.merge(.token("ltgt_unknown"))
        }
        guard case .server(401, "invalid_token", _) = refusal else {
            Issue.record("\(String(describing: refusal))")
            return
        }
        #expect(await survivor.state == .known(account))
    }

    @Test func whatAUserSees() async throws {
        let app = try await deployment.app(subject: "person")
        let session = app.account
        #expect(try await session.update(ProfileChange(nickname: .set("Ducky"))).nickname == "Ducky")
        #expect(try await session.update(ProfileChange(nickname: .clear)).nickname == nil)
        #expect(try await session.profile().role == "user")
        #expect(try await session.update(ProfileChange(name: .set("Mina"))).name == "Mina")
        guard case .known(let account) = await session.state else {
            Issue.record("the user is signed in")
            return
        }
        #expect(account.name == "Mina")
        try deployment.run("UPDATE users SET name = 'Elsewhere'")
        #expect(try await session.profile().name == "Elsewhere")
        #expect(try await session.bootstrap().name == "Elsewhere")

        #expect(try await session.connectedApps().isEmpty)
        try await deployment.session(InMemoryStore(), browser: app).signIn()
        #expect(try await session.connectedApps().map(\.clientID) == [deployment.clientID])
        try await session.disconnect(clientID: deployment.clientID)
        #expect(try await session.connectedApps().isEmpty)

        try await session.signIn(with: deployment.credential("person"))
        let page = try await session.loginHistory(limit: 1)
        #expect(page.loginEvents.map(\.event) == ["session"])
        let next = try await session.loginHistory(before: page.nextCursor, limit: 1)
        #expect(next.loginEvents.count == 1 && next.loginEvents[0].id < page.loginEvents[0].id)
        #expect(next.nextCursor == nil)
        await #expect(throws: MerganserError.self) { try await session.unlink(provider: "apple") }
    }

    @Test func theAppDecidesAboutAuthorizeRequests() async throws {
        let session = try await deployment.app(subject: "person").account
        let url = try Deployment.url(
            try deployment.url.absoluteString + "/oauth/authorize?response_type=code&client_id=\(deployment.clientID)"
                + "&redirect_uri=myapp%3A%2F%2Foauth%2Fcallback&scope=openid+email&state=a%2Bb&code_challenge_method=S256"
                + "&code_challenge=\(String(repeating: "a", count: 43))")
        let preview = try await session.preview(authorization: url)
        #expect(preview.application.name == "Notes" && preview.consentRequired)
        #expect(preview.scopes.map(\.name) == ["openid", "email"])
        let denied = try await session.authorize(url, allow: false)
        #expect(denied.absoluteString.contains("error=access_denied"))
        #expect(queryPairs(of: try await session.authorize(url)).first { $0.name == "state" }?.value == "a+b")
        await #expect(throws: MerganserError.self) {
            try await session.authorize(try Deployment.url("https://elsewhere.example/oauth/authorize"))
        }
    }

    @Test func signOutForgetsTheDevice() async throws {
        let store = InMemoryStore()
        let session = try deployment.accountSession(store)
        let account = try await session.signIn(with: deployment.credential("person"))
        try await session.signOut()
        #expect(await session.state == .signedOut(.requested))
        #expect(try deployment.count("SELECT COUNT(*) FROM paks WHERE revoked_at IS NULL") == 0)
        let guest = try await session.bootstrap()
        #expect(guest.anonymous && guest.id != account.id)
    }
}
