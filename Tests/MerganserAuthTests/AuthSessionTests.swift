import FaultProxy
import Foundation
import MerganserClient
import TestSupport
import Testing

@testable import MerganserAuth

/// An app's sign-in with the real server. Each test has a server of its own.
@Suite(.serialized) struct AuthSessionTests {
    private let deployment: Deployment

    init() throws { deployment = try Deployment() }

    @Test func aUserSignsInAndOut() async throws {
        let store = InMemoryStore()
        let session = try deployment.session(store, browser: try await deployment.app(subject: "person"))
        #expect(await session.state == .signedOut(.neverSignedIn))
        await #expect(throws: MerganserError.signedOut(.neverSignedIn)) { try await session.refresh() }

        let signedIn = try await session.signIn()
        #expect(!signedIn.claims.anonymous)
        #expect(signedIn.scopes == ["openid", "profile:basic", "email"])
        #expect(signedIn.idToken != nil)
        #expect(try await session.accessToken() == signedIn.accessToken)
        #expect(try await session.currentRefreshToken() == signedIn.refreshToken)
        #expect(await session.state == .known(signedIn.claims))
        #expect(!"\(signedIn)".contains(signedIn.accessToken))
        var dumped = ""
        dump(signedIn, to: &dumped)
        for token in [signedIn.accessToken, signedIn.refreshToken, signedIn.idToken] {
            #expect(!dumped.contains(try #require(token)))
        }

        // The next launch knows it without a request.
        let requests = deployment.proxy.exchanges.count
        let next = try deployment.session(store)
        #expect(try await next.lastSession() == signedIn)
        #expect(try await next.accessToken() == signedIn.accessToken)
        #expect(deployment.proxy.exchanges.count == requests)

        let refreshed = try await next.refresh()
        #expect(refreshed.refreshToken != signedIn.refreshToken)
        #expect(refreshed.claims == signedIn.claims)

        try await session.signOut()
        #expect(await next.state == .signedOut(.requested))
        await #expect(throws: MerganserError.signedOut(.requested)) { try await next.accessToken() }
        #expect(deployment.refreshes.count == 1)
    }

    @Test func aGuestIsAGuest() async throws {
        let session = try deployment.session(InMemoryStore(), browser: try await deployment.app())
        let claims = try await session.signIn().claims
        #expect(claims.anonymous)
        #expect(await session.state == .guest(claims))
    }

    /// The app links while the user is a guest; the next refresh tells.
    @Test func aPromotionShowsAtTheNextRefresh() async throws {
        let app = try await deployment.app()
        let session = try deployment.session(InMemoryStore(), browser: app)
        let guest = try await session.signIn().claims
        guard case .linked = try await app.account.link(deployment.credential("person")) else {
            Issue.record("the provider belongs to nobody")
            return
        }
        #expect(try await session.refresh().claims.changes(since: guest) == [.promoted])
    }

    @Test func statesAreToldToEveryone() async throws {
        let session = try deployment.session(InMemoryStore(), browser: try await deployment.app(subject: "person"))
        var (first, second) = (session.states.makeAsyncIterator(), session.states.makeAsyncIterator())
        #expect(await first.next() == .signedOut(.neverSignedIn))
        #expect(await second.next() == .signedOut(.neverSignedIn))
        let claims = try await session.signIn().claims
        #expect(await first.next() == .known(claims))
        #expect(await second.next() == .known(claims))
        try await session.signOut()
        #expect(await first.next() == .signedOut(.requested))
    }

    /// With scopes that give no id_token the claims are the access token's.
    @Test func withoutOpenIDTheSubIsKnown() async throws {
        var config = try deployment.config()
        config.scopes = ["email"]
        let session = try deployment.session(
            InMemoryStore(), browser: try await deployment.app(subject: "person"), config: config)
        let signedIn = try await session.signIn()
        #expect(signedIn.idToken == nil && !signedIn.claims.sub.isEmpty)
        #expect(try await session.refresh().claims.sub == signedIn.claims.sub)
    }

    @Test func signOutEverywhereRevokes() async throws {
        let store = try await deployment.signedIn()
        let session = try deployment.session(store)
        try await session.signOut(.everywhere)
        #expect(try deployment.count("SELECT COUNT(*) FROM refresh_families WHERE revoked_at IS NULL") == 0)

        let again = try await deployment.signedIn(store: store)
        deployment.proxy.arm(.lostRequest, at: "/oauth/revoke")
        await #expect(throws: MerganserError.offline) { try await deployment.session(again).signOut(.everywhere) }
        #expect(await session.state == .signedOut(.requested))
        #expect(try deployment.count("SELECT COUNT(*) FROM refresh_families WHERE revoked_at IS NULL") == 1)
        await session.start()
        #expect(try deployment.count("SELECT COUNT(*) FROM refresh_families WHERE revoked_at IS NULL") == 0)
    }

    // MARK: The way back

    /// A browser that leaves the way back to the system.
    private struct Elsewhere: Browser {
        let opened: @Sendable (URL) async throws -> Void

        func open(_ url: URL, returningTo redirectURI: URL) async throws -> URL? {
            try await opened(url)
            return nil
        }
    }

    @Test func theOtherAppComesBackThroughHandle() async throws {
        let app = try await deployment.app(subject: "person")
        let (opened, continuation) = AsyncStream<URL>.makeStream()
        let session = try deployment.session(
            InMemoryStore(), browser: Elsewhere { continuation.yield($0) })
        let signingIn = Task { try await session.signIn() }
        var urls = opened.makeAsyncIterator()
        let url = try #require(await urls.next())

        // Any app can open such a URL; the sign-in goes on.
        #expect(session.handle(try Deployment.url("\(Deployment.redirectURI)?code=1&state=forged")))
        #expect(!session.handle(try Deployment.url("otherapp://oauth/callback?code=1")))
        #expect(session.handle(try await app.account.authorize(url)))
        #expect(try await !signingIn.value.claims.anonymous)
    }

    /// The user came back from the other app by the system's own way, and wants to sign in again.
    @Test func aNewSignInSupersedesOneThatIsElsewhere() async throws {
        let app = try await deployment.app(subject: "person")
        let (opened, continuation) = AsyncStream<URL>.makeStream()
        let session = try deployment.session(InMemoryStore(), browser: Elsewhere { continuation.yield($0) })
        var urls = opened.makeAsyncIterator()
        let first = Task { try await session.signIn() }
        let forgotten = try #require(await urls.next())
        let second = Task {
            // Until the browser is closed, the first one is in progress.
            for _ in 0..<500 {
                do { return try await session.signIn() } catch MerganserError.alreadyInProgress {
                    try await Task.sleep(for: .milliseconds(10))
                }
            }
            throw MerganserError.alreadyInProgress
        }
        await #expect(throws: MerganserError.userCancelled) { try await first.value }
        let url = try #require(await urls.next())
        #expect(session.handle(try await app.account.authorize(forgotten)))
        #expect(session.handle(try await app.account.authorize(url)))
        #expect(try await !second.value.claims.anonymous)
    }

    @Test func aSignInWhoseBrowserIsOpenIsNotSuperseded() async throws {
        let gate = FaultProxy.Gate()
        let session = try deployment.session(InMemoryStore(), browser: Elsewhere { _ in gate.pass() })
        let signingIn = Task { try await session.signIn() }
        #expect(await gate.waitForArrival())
        await #expect(throws: MerganserError.alreadyInProgress) { try await session.signIn() }
        signingIn.cancel()
        gate.open()
        await #expect(throws: CancellationError.self) { try await signingIn.value }
    }

    /// Comes back with another query; `@` stands for the state.
    private struct Wrong: Browser {
        let query: String

        func open(_ url: URL, returningTo redirectURI: URL) async throws -> URL? {
            let state = queryPairs(of: url).first { $0.name == "state" }?.value ?? ""
            return URL(string: redirectURI.absoluteString + query.replacing("@", with: state))
        }
    }

    @Test func aWrongWayBackSignsNobodyIn() async throws {
        for (query, error) in [
            ("?state=other&code=1", MerganserError.stateMismatch), ("", .missingCode), ("?state=@", .missingCode),
            (
                "?error=access_denied&error_description=not+now&state=@",
                .authorizationRefused(code: "access_denied", description: "not now")
            ),
        ] {
            let session = try deployment.session(InMemoryStore(), browser: Wrong(query: query))
            await #expect(throws: error) { try await session.signIn() }
            #expect(await session.state == .signedOut(.neverSignedIn))
        }
        let session = try deployment.session(InMemoryStore(), browser: Wrong(query: "?state=@&code=unknown"))
        let refusal = await #expect(throws: MerganserError.self) { try await session.signIn() }
        guard case .authorizationRefused("invalid_grant", _) = refusal else {
            Issue.record("\(String(describing: refusal))")
            return
        }
    }

    @Test func patienceEnds() async throws {
        var config = try deployment.config()
        config.handoffTimeout = .milliseconds(20)
        let session = try deployment.session(InMemoryStore(), browser: Elsewhere { _ in }, config: config)
        for _ in 0..<2 { await #expect(throws: MerganserError.handoffTimeout) { try await session.signIn() } }
    }

    @Test func whoIsSignedInStaysSoWhenAnotherSignInFails() async throws {
        let store = try await deployment.signedIn()
        let session = try deployment.session(store)
        let before = try await session.lastSession()
        await #expect(throws: MerganserError.browserUnavailable) { try await session.signIn() }
        #expect(try await session.lastSession() == before)
    }

    /// A credential that somebody could read in transit follows no redirect.
    @Test func redirectsAreNotFollowed() async throws {
        let store = try await deployment.signedIn()
        let elsewhere = try LocalHTTPServer { _ in .response(body: Array("{}".utf8)) }
        deployment.proxy.arm(
            .answer(status: 307, headers: [("Location", elsewhere.url)], body: "{}"), at: "/oauth/token")
        await #expect(throws: MerganserError.self) { try await deployment.session(store).refresh() }
        #expect(elsewhere.requests.isEmpty)
        try await deployment.session(store).refresh()
    }
}
