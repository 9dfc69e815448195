import FaultProxy
import Foundation
import MerganserClient
import TestSupport
import Testing

@testable import MerganserAuth

/// What others get wrong, for the server's own app. Each test has a server of its own.
@Suite(.serialized) struct AccountFaultTests {
    private let deployment: Deployment
    private let proxy: FaultProxy

    init() throws {
        deployment = try Deployment()
        proxy = deployment.proxy
    }

    private func users() throws -> Int { try deployment.count("SELECT COUNT(*) FROM users") }

    // MARK: 3

    @Test(arguments: [FaultProxy.Fault.lostRequest, .lostAnswer, .cutAnswer(after: 400)])
    func aLostBootstrapMakesOneGuest(fault: FaultProxy.Fault) async throws {
        let store = InMemoryStore()
        proxy.arm(fault, at: "/api/v1/devices")
        await #expect(throws: MerganserError.offline) { try await deployment.accountSession(store).bootstrap() }
        let next = try deployment.accountSession(store)
        let guest = try await next.bootstrap()
        #expect(try users() == 1)
        // It has the secret, which only the lost answer showed.
        try deployment.run("UPDATE paks SET revoked_at = NOW(3)")
        #expect(try await next.profile().id == guest.id)
        #expect(try users() == 1)
    }

    /// Ten minutes later the server has forgotten the answer, and nobody knows the secret. Nothing is lost by a new guest.
    @Test func aGuestWhoseFirstAnswerIsLostBeginsAnew() async throws {
        let store = InMemoryStore()
        proxy.arm(.lostAnswer, at: "/api/v1/devices")
        await #expect(throws: MerganserError.offline) { try await deployment.accountSession(store).bootstrap() }
        try forgetAnswers()
        let clock = TestDeviceClock()
        clock.advance(by: .seconds(700))
        let next = try deployment.accountSession(store, clock: clock)
        #expect(try await next.bootstrap().anonymous)
        #expect(await next.state != .signedOut(.deviceUnknown))
    }

    /// What a later look-up would find (accounts §0.5).
    private func forgetAnswers() throws {
        try deployment.run("DELETE FROM idempotency_records")
    }

    @Test func aLostLinkIsHadAgain() async throws {
        let store = InMemoryStore()
        let guest = try await deployment.accountSession(store).bootstrap()
        proxy.arm(.cutAnswer(after: 10), at: "/api/v1/me/connected_identities")
        await #expect(throws: MerganserError.offline) {
            try await deployment.accountSession(store).link(deployment.credential("person"))
        }
        let next = try deployment.accountSession(store)
        proxy.arm(.lostRequest, at: "/api/v1/me/connected_identities")
        #expect(try await next.bootstrap() == guest, "what is stored serves while there is no network")
        await next.start()
        guard case .known(let account) = await next.state else {
            Issue.record("the guest was promoted")
            return
        }
        #expect(account.id == guest.id)
    }

    /// The guest, its token and its device's secret are gone when the answer is.
    @Test func aLostSwapIsHadAgain() async throws {
        let owner = try await deployment.accountSession().signIn(with: deployment.credential("person"))
        let store = InMemoryStore()
        let session = try deployment.accountSession(store)
        try await session.bootstrap()
        guard case .ownedByAnotherAccount(let ticket) = try await session.link(deployment.credential("person")) else {
            Issue.record("the provider belongs to another account")
            return
        }
        proxy.arm(.cutAnswer(after: 100), at: "/api/v1/me/anonymous_swap")
        await #expect(throws: MerganserError.offline) { try await session.swap(ticket) }
        let next = try deployment.accountSession(store)
        #expect(try await next.bootstrap() == owner)
        try deployment.run("UPDATE paks SET revoked_at = NOW(3)")
        #expect(try await next.profile().id == owner.id)
        #expect(try users() == 1)
    }

    @Test func aSwapThatIsLostForTooLongSaysSo() async throws {
        try await deployment.accountSession().signIn(with: deployment.credential("person"))
        let store = InMemoryStore()
        let session = try deployment.accountSession(store)
        try await session.bootstrap()
        guard case .ownedByAnotherAccount(let ticket) = try await session.link(deployment.credential("person")) else {
            Issue.record("the provider belongs to another account")
            return
        }
        proxy.arm(.lostAnswer, at: "/api/v1/me/anonymous_swap")
        await #expect(throws: MerganserError.offline) { try await session.swap(ticket) }
        try forgetAnswers()
        let clock = TestDeviceClock()
        clock.advance(by: .seconds(700))
        let next = try deployment.accountSession(store, clock: clock)
        await #expect(throws: MerganserError.signedOut(.signInAgain)) { try await next.profile() }
        #expect(await next.state == .signedOut(.signInAgain))
        #expect(try await !next.signIn(with: deployment.credential("person")).anonymous)
    }

    /// The token is the same, so the server can be asked what became of the user.
    @Test func aLinkThatIsLostForTooLongShowsAllTheSame() async throws {
        let store = InMemoryStore()
        let session = try deployment.accountSession(store)
        let guest = try await session.bootstrap()
        proxy.arm(.lostAnswer, at: "/api/v1/me/connected_identities")
        await #expect(throws: MerganserError.offline) { try await session.link(deployment.credential("person")) }
        try forgetAnswers()
        let clock = TestDeviceClock()
        clock.advance(by: .seconds(700))
        let next = try deployment.accountSession(store, clock: clock)
        proxy.arm(.lostRequest, at: "/api/v1/me")
        await next.start()
        #expect(await next.state == .guest(guest))
        await next.start()
        guard case .known(let account) = await next.state else {
            Issue.record("the guest was promoted")
            return
        }
        #expect(account.id == guest.id)
        let requests = proxy.exchanges.count
        await next.start()
        #expect(proxy.exchanges.count == requests)
    }

    /// Whoever may have an account does not become a guest unasked.
    @Test func aSignInThatIsLostForTooLongSaysSo() async throws {
        let store = InMemoryStore()
        proxy.arm(.lostAnswer, at: "/api/v1/auth/apple/session")
        await #expect(throws: MerganserError.offline) {
            try await deployment.accountSession(store).signIn(with: deployment.credential("person"))
        }
        try forgetAnswers()
        let clock = TestDeviceClock()
        clock.advance(by: .seconds(700))
        let next = try deployment.accountSession(store, clock: clock)
        await next.start()
        #expect(await next.state == .signedOut(.signInAgain))
        await #expect(throws: MerganserError.signedOut(.signInAgain)) { try await next.bootstrap() }
        #expect(try users() == 1)
        #expect(try await next.bootstrap().anonymous)
    }

    @Test func aLostMergeIsHadAgain() async throws {
        let store = InMemoryStore()
        let survivor = try deployment.accountSession(store)
        try await survivor.signIn(with: deployment.credential("person"))
        let other = try deployment.accountSession()
        try await other.bootstrap()
        let token = try await other.mergeToken()
        proxy.arm(.lostAnswer, at: "/api/v1/me/merge")
        await #expect(throws: MerganserError.offline) { try await survivor.merge(.token(token)) }
        await survivor.start()
        let merges = proxy.exchanges.filter { $0.request.path == "/api/v1/me/merge" }
        #expect(merges.map(\.status) == [200, 200])
        #expect(try deployment.count("SELECT COUNT(*) FROM identity_links") == 1)
    }

    /// A store that cannot be written after so many changes, as if the process had been killed then.
    private struct Dying: SecureStore {
        let store: InMemoryStore
        let remaining: Locked<Int>

        func read(_ item: StoredItem) throws(StoreFault) -> Data? { try store.read(item) }
        func update(_ item: StoredItem, _ change: (Data?) throws(StoreFault) -> Data?) throws(StoreFault) {
            let isAlive = remaining.withLock { remaining in
                remaining -= 1
                return remaining >= 0
            }
            guard isAlive else { throw .unreadable("dead") }
            try store.update(item, change)
        }
    }

    /// Wherever a sign-out is killed, the user stays signed in, or does not come back.
    @Test(arguments: 0..<4) func aKilledSignOutIsFinished(changes: Int) async throws {
        let store = InMemoryStore()
        let account = try await deployment.accountSession(store).signIn(with: deployment.credential("person"))
        let dying = try deployment.accountSession(Dying(store: store, remaining: Locked(changes)))
        try? await dying.signOut()
        let next = try deployment.accountSession(store)
        if changes == 0 {
            #expect(await next.state == .known(account))
        } else {
            #expect(await next.state == .signedOut(.requested))
            #expect(try await next.bootstrap().anonymous)
        }
    }

    // MARK: 4

    @Test func aLateAnswerDoesNotSignIn() async throws {
        let store = InMemoryStore()
        let session = try deployment.accountSession(store)
        let gate = FaultProxy.Gate()
        proxy.arm(.held(gate), at: "/api/v1/auth/apple/session")
        let late = Task { try await session.signIn(with: deployment.credential("person")) }
        #expect(await gate.waitForArrival())
        // Another process signs out.
        try await deployment.accountSession(store).signOut()
        gate.open()
        await #expect(throws: MerganserError.signedOut(.requested)) { try await late.value }
        #expect(await session.state == .signedOut(.requested))
    }

    /// The former user's token is dead when the request arrives; the next user's is not meant for it.
    @Test func aLateRequestIsNotTheNextUsers() async throws {
        let session = try deployment.accountSession()
        try await session.bootstrap()
        let gate = FaultProxy.Gate()
        proxy.arm(.late(gate), at: "/api/v1/me")
        let late = Task { try await session.update(ProfileChange(name: .set("Former"))) }
        #expect(await gate.waitForArrival())
        try await session.signOut()
        try await session.bootstrap()
        gate.open()
        await #expect(throws: MerganserError.signedOut(.requested)) { try await late.value }
        #expect(try await session.profile().name == nil)
    }

    /// Counts how often it is read.
    private struct Watched: SecureStore {
        let store: InMemoryStore
        let reads = Locked(0)

        func read(_ item: StoredItem) throws(StoreFault) -> Data? {
            reads.withLock { $0 += 1 }
            return try store.read(item)
        }

        func update(_ item: StoredItem, _ change: (Data?) throws(StoreFault) -> Data?) throws(StoreFault) {
            try store.update(item, change)
        }
    }

    /// Nor does a change that waits for its turn, while another process signs out and bootstraps.
    @Test func aLateChangeIsNotTheNextUsers() async throws {
        let store = InMemoryStore()
        let watched = Watched(store: store)
        let (app, widget) = (try deployment.accountSession(watched), try deployment.accountSession(store))
        try await app.bootstrap()
        let gate = FaultProxy.Gate()
        proxy.arm(.late(gate), at: "/api/v1/me/connected_identities")
        let first = Task { try await app.link(deployment.credential("person")) }
        #expect(await gate.waitForArrival())
        let reads = watched.reads.withLock { $0 }
        let second = Task { try await app.link(deployment.credential("person")) }
        // Until it has looked who is signed in.
        for _ in 0..<1000 where watched.reads.withLock({ $0 }) == reads { try await Task.sleep(for: .milliseconds(5)) }
        try await widget.signOut()
        let guest = try await widget.bootstrap()
        gate.open()
        await #expect(throws: MerganserError.signedOut(.requested)) { try await first.value }
        await #expect(throws: MerganserError.signedOut(.requested)) { try await second.value }
        #expect(await app.state == .guest(guest))
        #expect(try await app.profile().anonymous)
    }

    /// A guest was absorbed elsewhere, and the device is its new account's: what the guest asked for is not done to that one.
    @Test func anAbsorbedGuestDeletesNobodyElse() async throws {
        let (survivor, other) = (try deployment.accountSession(), try deployment.accountSession())
        let account = try await survivor.signIn(with: deployment.credential("person"))
        for isChange in [false, true] {
            try await other.signOut()
            try await other.bootstrap()
            try await survivor.merge(.token(try await other.mergeToken()))
            await #expect(throws: MerganserError.signedOut(.signInAgain)) {
                if isChange {
                    _ = try await other.link(deployment.credential("another"))
                } else {
                    _ = try await other.deleteAccount()
                }
            }
            #expect(await other.state == .known(account))
        }
        #expect(try await survivor.identities().count == 1)
        // Who asks from now on is the new account.
        #expect(try await other.update(ProfileChange(name: .set("Mina"))).name == "Mina")
    }

    /// The app still shows the guest, since the answer to the sign-in was lost: what the guest asks for is not done to the
    /// user whom the sign-in turns out to have brought.
    @Test func aLostSignInDeletesNobodyElse() async throws {
        let store = InMemoryStore()
        let account = try await deployment.accountSession().signIn(with: deployment.credential("person"))
        let session = try deployment.accountSession(store)
        for isDeletion in [false, true] {
            try await session.signOut()
            try await session.bootstrap()
            proxy.arm(.lostAnswer, at: "/api/v1/auth/apple/session")
            await #expect(throws: MerganserError.self) {
                try await session.signIn(with: deployment.credential("person"))
            }
            await #expect(throws: MerganserError.signedOut(.requested)) {
                if isDeletion {
                    _ = try await session.deleteAccount()
                } else {
                    _ = try await session.update(ProfileChange(name: .set("Guest")))
                }
            }
            #expect(await session.state == .known(account))
            #expect(try await session.profile().name == nil)
        }
        #expect(try deployment.count("SELECT COUNT(*) FROM users WHERE deleted_at IS NOT NULL") == 0)
    }

    @Test(arguments: [false, true]) func aRequestIsNotRepeatedAfterTheSignOut(isChange: Bool) async throws {
        let clock = TestDeviceClock()
        let session = try deployment.accountSession(clock: clock, attempts: 4)
        try await session.bootstrap()
        proxy.arm(.answer(status: 503, headers: [("Retry-After", "1")], body: "{}"), at: "/api/v1/me")
        clock.hold()
        let late = Task {
            if isChange {
                _ = try await session.link(deployment.credential("person"))
            } else {
                _ = try await session.profile()
            }
        }
        while clock.sleeps.isEmpty { await Task.yield() }
        try await session.signOut()
        clock.release()
        await #expect(throws: MerganserError.signedOut(.requested)) { try await late.value }
        #expect(proxy.count("/api/v1/me") == 1)
    }

    @Test func aLateDeletionSignsNobodyElseOut() async throws {
        let session = try deployment.accountSession()
        try await session.bootstrap()
        let gate = FaultProxy.Gate()
        proxy.arm(.held(gate), at: "/api/v1/me")
        let late = Task { try await session.deleteAccount() }
        #expect(await gate.waitForArrival())
        try await session.signOut()
        let guest = try await session.bootstrap()
        gate.open()
        _ = try await late.value
        #expect(await session.state == .guest(guest))
        try deployment.run("UPDATE paks SET revoked_at = NOW(3)")
        #expect(try await session.profile().id == guest.id)
    }

    /// One process finishes what another one waits for, and has done something else by the time the answer arrives.
    @Test func anAnswerThatAnotherProcessStoredIsTrue() async throws {
        let store = InMemoryStore()
        let (app, widget) = (try deployment.accountSession(store), try deployment.accountSession(store))
        let guest = try await app.bootstrap()
        let gate = FaultProxy.Gate()
        proxy.arm(.held(gate), at: "/api/v1/me/connected_identities")
        let linking = Task { try await app.link(deployment.credential("person")) }
        #expect(await gate.waitForArrival())
        await widget.start()
        _ = try await widget.link(deployment.credential("person"))
        gate.open()
        guard case .linked(let account) = try await linking.value else {
            Issue.record("the guest was promoted")
            return
        }
        #expect(account.id == guest.id && !account.anonymous)
    }

    // MARK: 5

    private let failures = [
        FaultProxy.Fault.lostRequest, .lostAnswer,
        .answer(status: 503, headers: [], body: #"{"error":"temporarily_unavailable"}"#),
        .answer(status: 200, headers: [("Content-Type", "text/html")], body: "<html>Welcome"),
        .answer(status: 401, headers: [("Content-Type", "text/html")], body: "<html>Pay first"),
    ]

    @Test func oneFailureEndsNothing() async throws {
        let session = try deployment.accountSession()
        let account = try await session.signIn(with: deployment.credential("person"))
        for fault in failures {
            try deployment.run("UPDATE paks SET revoked_at = NOW(3)")
            proxy.arm(fault, at: "/api/v1/devices")
            await #expect(throws: MerganserError.self, "\(fault)") { try await session.profile() }
            #expect(await session.state == .known(account), "\(fault)")
            #expect(try await session.profile().id == account.id, "\(fault)")
        }
    }

    /// The server takes no sign-ins for a while. Who is signed in does not wait for that.
    @Test func aSignInThatFailsStopsNobody() async throws {
        let session = try deployment.accountSession()
        let guest = try await session.bootstrap()
        proxy.arm(
            .answer(status: 503, headers: [], body: #"{"error":"temporarily_unavailable"}"#),
            at: "/api/v1/auth/apple/session", times: 2)
        await #expect(throws: MerganserError.self) { try await session.signIn(with: deployment.credential("person")) }
        #expect(try await session.profile().id == guest.id)
        #expect(proxy.count("/api/v1/auth/apple/session") == 2)
    }

    // MARK: 6

    @Test func beforeTheFirstUnlockNothingIsKnown() async throws {
        let store = InMemoryStore()
        let session = try deployment.accountSession(store)
        let guest = try await session.bootstrap()
        store.fault = .locked
        #expect(await session.state == .unknown(.locked))
        await #expect(throws: MerganserError.storeUnavailable(.locked)) { try await session.bootstrap() }
        store.fault = nil
        #expect(await session.state == .guest(guest))
        #expect(try users() == 1)
    }

    /// A record of a later version is nobody's to delete but the user's.
    @Test func signOutLeavesWhatCannotBeRead() async throws {
        let store = InMemoryStore()
        let owner = try deployment.url.withoutFinalSlash
        for kind in [StoredItem.Kind.account, .device] {
            try store.update(StoredItem(kind, of: owner)) { _ in Data(#"{"generation":"2","uuid":2}"#.utf8) }
        }
        let session = try deployment.accountSession(store)
        await #expect(throws: MerganserError.self) { try await session.bootstrap() }
        try await session.signOut()
        #expect(await session.state == .signedOut(.requested))
        #expect(try await session.bootstrap().anonymous)
    }

    // MARK: 10

    @Test func tokensAndDeviceAreApart() async throws {
        let store = InMemoryStore()
        try await deployment.accountSession(store).bootstrap()
        let owner = try deployment.url.withoutFinalSlash
        let token = String(decoding: try #require(try store.read(StoredItem(.account, of: owner))), as: UTF8.self)
        let device = String(decoding: try #require(try store.read(StoredItem(.device, of: owner))), as: UTF8.self)
        #expect(token.contains("lpk_live_") && !token.contains("ds_"))
        #expect(device.contains("ds_") && !device.contains("lpk_live_"))
    }

    @Test func aDeviceThatTheServerForgotIsTold() async throws {
        let store = InMemoryStore()
        let session = try deployment.accountSession(store)
        let guest = try await session.bootstrap()
        try deployment.run("UPDATE paks SET revoked_at = NOW(3); UPDATE devices SET secret_digest = NULL")
        await #expect(throws: MerganserError.signedOut(.deviceUnknown)) { try await session.profile() }
        #expect(await session.state == .signedOut(.deviceUnknown))
        // Nobody gets a new guest who has not asked for one.
        #expect(try users() == 1)
        await #expect(throws: MerganserError.signedOut(.deviceUnknown)) { try await session.profile() }
        let new = try await session.bootstrap()
        #expect(new.anonymous && new.id != guest.id)
    }

    /// A promotion elsewhere voids this device's secret; the identity token proves more.
    @Test func aSignInNeedsNoSecret() async throws {
        let store = InMemoryStore()
        let session = try deployment.accountSession(store)
        try await session.bootstrap()
        try deployment.run("UPDATE devices SET secret_digest = NULL")
        let account = try await session.signIn(with: deployment.credential("person"))
        #expect(await session.state == .known(account))
    }
}
