import FaultProxy
import Foundation
import MerganserClient
import TestSupport
import Testing

@testable import MerganserAuth

/// What others get wrong, for the session of an app; `AccountFaultTests` has the server's own app. Each test has a server of its own.
@Suite(.serialized) struct FaultTests {
    private let deployment: Deployment
    private let proxy: FaultProxy

    init() throws {
        deployment = try Deployment()
        proxy = deployment.proxy
    }

    /// A token's life, and more.
    private let later = Duration.seconds(1000)

    // MARK: 1

    @Test func parallelRefreshesAreOne() async throws {
        let clock = TestDeviceClock()
        let session = try deployment.session(try await deployment.signedIn(clock: clock), clock: clock)
        _ = try await session.accessToken()
        clock.advance(by: later)
        let gate = FaultProxy.Gate()
        proxy.arm(.held(gate), at: "/oauth/token")

        let leaving = Task { try await session.accessToken() }
        #expect(await gate.waitForArrival())
        let staying = (0..<20).map { _ in Task { try await session.accessToken() } }
        leaving.cancel()
        await #expect(throws: CancellationError.self) { try await leaving.value }
        gate.open()
        var tokens: Set<String> = []
        for task in staying { tokens.insert(try await task.value) }
        #expect(tokens.count == 1)
        #expect(deployment.refreshes.count == 1)
    }

    @Test func aRefreshThatNobodyWaitsForIsStored() async throws {
        let store = try await deployment.signedIn()
        let session = try deployment.session(store)
        let before = try await session.currentRefreshToken()
        let gate = FaultProxy.Gate()
        proxy.arm(.held(gate), at: "/oauth/token")
        let leaving = Task { try await session.refresh() }
        #expect(await gate.waitForArrival())
        leaving.cancel()
        await #expect(throws: CancellationError.self) { try await leaving.value }
        gate.open()
        // Joins what is under way, or finds it done.
        _ = try await session.refresh()
        #expect(try await session.currentRefreshToken() != before)
        #expect(try deployment.count("SELECT COUNT(*) FROM refresh_families WHERE revoked_at IS NOT NULL") == 0)
    }

    // MARK: 2

    /// As two processes: sessions that share nothing but a folder.
    private func twoSessions(
        clock: any DeviceClock = SystemClock()
    ) async throws -> (AuthSession, AuthSession, TemporaryDirectory) {
        let directory = try TemporaryDirectory()
        let store = FileStore(folder: URL(filePath: directory.file("store")))
        _ = try await deployment.signedIn(store: store)
        return (try deployment.session(store, clock: clock), try deployment.session(store), directory)
    }

    @Test func twoProcessesShareARefresh() async throws {
        let (app, widget, directory) = try await twoSessions()
        defer { withExtendedLifetime(directory) {} }
        let gate = FaultProxy.Gate()
        proxy.arm(.held(gate), at: "/oauth/token")
        async let first = app.refresh()
        #expect(await gate.waitForArrival())
        let second = try await widget.refresh()
        gate.open()
        #expect(try await first == second)
        #expect(Set(deployment.refreshes.map(\.key)).count == 1)
        #expect(try await app.currentRefreshToken() == second.refreshToken)
    }

    /// The widget's request is slow. While it is on its way, the app must not use the token that it already has: the server
    /// would take the widget for a thief.
    @Test func aSlowProcessIsNoThief() async throws {
        let clock = TestDeviceClock()
        let (app, widget, directory) = try await twoSessions(clock: clock)
        defer { withExtendedLifetime(directory) {} }
        let gate = FaultProxy.Gate()
        proxy.arm(.late(gate), at: "/oauth/token")
        async let slow = widget.refresh()
        #expect(await gate.waitForArrival())
        let first = try await app.refresh()
        let again = Task { try await app.refresh() }
        // The app has looked at the record and waits, or has asked.
        while clock.sleeps.isEmpty, deployment.refreshes.count == 1 { await Task.yield() }
        #expect(deployment.refreshes.count == 1)
        gate.open()
        #expect(try await slow == first)
        #expect(try await again.value.refreshToken != first.refreshToken)
        #expect(try deployment.count("SELECT COUNT(*) FROM refresh_families WHERE revoked_at IS NOT NULL") == 0)
    }

    /// A store whose next change takes until a gate opens, as if the system had suspended the process in it.
    private struct Suspending: SecureStore {
        let store: InMemoryStore
        let gate = Locked<FaultProxy.Gate?>(nil)

        func read(_ item: StoredItem) throws(StoreFault) -> Data? { try store.read(item) }
        func update(_ item: StoredItem, _ change: (Data?) throws(StoreFault) -> Data?) throws(StoreFault) {
            try store.update(item, change)
            let gate = gate.withLock { gate in
                defer { gate = nil }
                return gate
            }
            gate?.pass()
        }
    }

    /// The app has boarded and is suspended before it sends. Until it wakes up, the widget has gone two tokens further.
    @Test func aSuspendedProcessIsNoThief() async throws {
        let store = InMemoryStore()
        _ = try await deployment.signedIn(store: store)
        let suspending = Suspending(store: store)
        let clock = TestDeviceClock()
        let (app, widget) = (
            try deployment.session(suspending, clock: clock), try deployment.session(store, clock: clock)
        )
        let gate = FaultProxy.Gate()
        suspending.gate.withLock { $0 = gate }
        let refreshing = Task { try await app.refresh() }
        #expect(await gate.waitForArrival())
        clock.advance(by: .seconds(60))
        for _ in 0..<2 { try await widget.refresh() }
        gate.open()
        #expect(try await refreshing.value == widget.lastSession())
        #expect(try deployment.count("SELECT COUNT(*) FROM refresh_families WHERE revoked_at IS NOT NULL") == 0)
    }

    /// A store whose changes take longer than a flight has to spare, and which ends a test that does not.
    private struct Slow: SecureStore {
        let store = InMemoryStore()
        let clock: TestDeviceClock
        let changes = Locked(0)

        func read(_ item: StoredItem) throws(StoreFault) -> Data? { try store.read(item) }
        func update(_ item: StoredItem, _ change: (Data?) throws(StoreFault) -> Data?) throws(StoreFault) {
            let count = changes.withLock { changes in
                changes += 1
                return changes
            }
            guard count < 50 else { throw .unreadable("asked too often") }
            try store.update(item, change)
            clock.advance(by: .seconds(60))
        }
    }

    @Test func aStoreThatIsTooSlowEndsTheRefresh() async throws {
        let clock = TestDeviceClock()
        let store = Slow(clock: clock)
        _ = try await deployment.signedIn(store: store.store)
        let session = try deployment.session(store, clock: clock)
        await #expect(throws: MerganserError.offline) { try await session.refresh() }
        #expect(deployment.refreshes.isEmpty)
    }

    @Test func requestsThatOvertakeEachOtherAreOne() async throws {
        let (app, widget, directory) = try await twoSessions()
        defer { withExtendedLifetime(directory) {} }
        for _ in 0..<5 {
            proxy.arm(.overtaken, at: "/oauth/token")
            async let first = app.refresh()
            async let second = widget.refresh()
            _ = try await (first, second)
        }
        #expect(try deployment.count("SELECT COUNT(*) FROM refresh_families WHERE revoked_at IS NOT NULL") == 0)
        #expect(await app.state == widget.state)
    }

    @Test func manyRefreshesOfTwoProcesses() async throws {
        let (app, widget, directory) = try await twoSessions()
        defer { withExtendedLifetime(directory) {} }
        for _ in 0..<20 {
            async let first = app.refresh()
            async let second = widget.refresh()
            _ = try await (first, second)
        }
        #expect(try deployment.count("SELECT COUNT(*) FROM refresh_families WHERE revoked_at IS NOT NULL") == 0)
        #expect(await app.state == widget.state)
    }

    // MARK: 3

    /// Lost wholly, or in the middle. The next start is a day later, but for an hour.
    @Test(arguments: [FaultProxy.Fault.lostAnswer, .cutAnswer(after: 600)])
    func aLostAnswerIsHadAgain(fault: FaultProxy.Fault) async throws {
        let store = try await deployment.signedIn()
        proxy.arm(fault, at: "/oauth/token")
        await #expect(throws: MerganserError.offline) { try await deployment.session(store).refresh() }
        try deployment.run(
            """
            UPDATE refresh_families SET answer_expires_at = answer_expires_at - INTERVAL 23 HOUR,
                                        answer_key_expires_at = answer_key_expires_at - INTERVAL 23 HOUR
            """)
        let clock = TestDeviceClock()
        clock.advance(by: .seconds(23 * 3600))
        let next = try deployment.session(store, clock: clock)
        await next.start()
        let session = try #require(try await next.lastSession())
        #expect(Set(deployment.refreshes.map { "\($0)" }).count == 1)
        // The token works: the family lives.
        #expect(try await next.refresh().refreshToken != session.refreshToken)
    }

    /// The server repeats its answer with the tokens of then, which are of no use by now.
    @Test(arguments: [false, true]) func anAnswerOfLongAgoIsNotHandedOut(isRefresh: Bool) async throws {
        let store = try await deployment.signedIn()
        proxy.arm(.lostAnswer, at: "/oauth/token")
        await #expect(throws: MerganserError.offline) { try await deployment.session(store).refresh() }
        let clock = TestDeviceClock()
        clock.advance(by: .seconds(3600))
        proxy.arm(.date(httpDate(clock.date)), at: "/oauth/token", times: 2)
        let next = try deployment.session(store, clock: clock)
        let token = isRefresh ? try await next.refresh().accessToken : try await next.accessToken()
        #expect(token == (try await next.lastSession())?.accessToken)
        #expect(Set(deployment.refreshes.map(\.key)).count == 2)
    }

    /// The token of the interrupted refresh is still good. A newer one is no reason to be online.
    @Test func aFreshTokenOfAnOldAnswerIsEnough() async throws {
        let store = try await deployment.signedIn()
        proxy.arm(.lostAnswer, at: "/oauth/token")
        await #expect(throws: MerganserError.offline) { try await deployment.session(store).refresh() }
        // Five minutes pass, and the former token ends.
        try store.update(StoredItem(.tokens, of: deployment.clientID)) { content in
            var record = (try? JSONSerialization.jsonObject(with: content ?? Data())) as? [String: Any] ?? [:]
            for (member, key, change) in [("pending", "writtenAt", -300.0), ("tokens", "expiry", -1000)] {
                var object = record[member] as? [String: Any] ?? [:]
                object[key] = (object[key] as? Double ?? 0) + change
                record[member] = object
            }
            return try? JSONSerialization.data(withJSONObject: record)
        }
        proxy.arm(.none, at: "/oauth/token")
        proxy.arm(.lostRequest, at: "/oauth/token")
        let next = try deployment.session(store)
        #expect(try await next.accessToken() == next.lastSession()?.accessToken)
        #expect(Set(deployment.refreshes.map(\.key)).count == 1)
        await #expect(throws: MerganserError.offline) { try await next.refresh() }
    }

    /// The clock was hours ahead when the request was written down, which shows only when an answer comes.
    @Test func aWrongClockAndALostAnswerEndNothing() async throws {
        let store = try await deployment.signedIn()
        proxy.arm(.lostAnswer, at: "/oauth/token")
        let fast = try deployment.session(store, clock: TestDeviceClock(wrong: 7200))
        await #expect(throws: MerganserError.offline) { try await fast.refresh() }
        let clock = TestDeviceClock(wrong: 7200)
        clock.advance(by: .seconds(3600))
        proxy.arm(.date(httpDate(Date() + 3600)), at: "/oauth/token", times: 2)
        let next = try deployment.session(store, clock: clock)
        try await next.refresh()
        #expect(try deployment.count("SELECT COUNT(*) FROM refresh_families WHERE revoked_at IS NOT NULL") == 0)
    }

    @Test func anAnswerThatIsLostForTooLongSaysSo() async throws {
        let store = try await deployment.signedIn()
        proxy.arm(.lostAnswer, at: "/oauth/token")
        await #expect(throws: MerganserError.offline) { try await deployment.session(store).refresh() }
        try deployment.run(
            """
            UPDATE refresh_families SET answer_expires_at = answer_expires_at - INTERVAL 25 HOUR,
                                        answer_key_expires_at = answer_key_expires_at - INTERVAL 25 HOUR
            """)
        let next = try deployment.session(store)
        await #expect(throws: MerganserError.signedOut(.signInAgain)) { try await next.refresh() }
        #expect(await next.state == .signedOut(.signInAgain))
    }

    @Test func aRequestThatNeverArrivedIsSentAgain() async throws {
        let store = try await deployment.signedIn()
        proxy.arm(.lostRequest, at: "/oauth/token")
        await #expect(throws: MerganserError.offline) { try await deployment.session(store).refresh() }
        _ = try await deployment.session(store).refresh()
        #expect(Set(deployment.refreshes.map { "\($0)" }).count == 1)
    }

    @Test func aRequestThatArrivesTwiceIsOne() async throws {
        let store = try await deployment.signedIn()
        proxy.arm(.duplicate, at: "/oauth/token")
        let session = try deployment.session(store)
        try await session.refresh()
        try await session.refresh()
        #expect(try deployment.count("SELECT COUNT(*) FROM refresh_families WHERE revoked_at IS NOT NULL") == 0)
    }

    // MARK: 4

    @Test func aLateAnswerDoesNotSignIn() async throws {
        let store = try await deployment.signedIn()
        let session = try deployment.session(store)
        let gate = FaultProxy.Gate()
        proxy.arm(.held(gate), at: "/oauth/token")
        let late = Task { try await session.refresh() }
        #expect(await gate.waitForArrival())
        try await session.signOut()
        gate.open()
        await #expect(throws: MerganserError.signedOut(.requested)) { try await late.value }
        #expect(await session.state == .signedOut(.requested))
        #expect(try await session.lastSession() == nil)
    }

    /// The app has more patience than its widget.
    @Test func aFlightLastsAsLongAsItsOwnProcessSays() {
        var record = SessionRecord()
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        record.depart("app", now: now, longest: 36)
        record.depart("widget", now: now + 1, longest: 12)
        record.arrive("widget")
        #expect(record.isAnyoneUnderWay(now: now + 35) && !record.isAnyoneUnderWay(now: now + 37))
        // The clock was set back, by a little and by an hour.
        #expect(record.isAnyoneUnderWay(now: now - 5) && !record.isAnyoneUnderWay(now: now - 3600))
    }

    @Test func aLateAnswerIsNotTheNextUsers() async throws {
        let store = try await deployment.signedIn()
        let session = try deployment.session(store)
        let gate = FaultProxy.Gate()
        proxy.arm(.held(gate), at: "/oauth/token")
        let late = Task { try await session.refresh() }
        #expect(await gate.waitForArrival())
        try await session.signOut()
        let other = try await deployment.session(store, browser: try await deployment.app(subject: "other")).signIn()
        gate.open()
        await #expect(throws: MerganserError.signedOut(.requested)) { try await late.value }
        #expect(try await session.lastSession() == other)
    }

    /// The former session is dead at the server, which another process learns while the user signs in.
    @Test func aDeadSessionEndsNoSignIn() async throws {
        let store = try await deployment.signedIn()
        try deployment.run("UPDATE refresh_families SET revoked_at = NOW(3)")
        let gate = FaultProxy.Gate()
        let session = try deployment.session(store, browser: try await deployment.app(subject: "other"))
        proxy.arm(.held(gate), at: "/oauth/token")
        let late = Task { try await session.signIn() }
        #expect(await gate.waitForArrival())
        await #expect(throws: MerganserError.signedOut(.signInAgain)) {
            try await deployment.session(store).refresh()
        }
        gate.open()
        let signedIn = try await late.value
        #expect(try await session.lastSession() == signedIn)
        #expect(try await session.refresh().claims.sub == signedIn.claims.sub)
    }

    /// The code comes back, and the user has signed out meanwhile.
    @Test func aLateSignInIsRefused() async throws {
        let store = InMemoryStore()
        let session = try deployment.session(store, browser: try await deployment.app(subject: "person"))
        let gate = FaultProxy.Gate()
        proxy.arm(.held(gate), at: "/oauth/token")
        let late = Task { try await session.signIn() }
        #expect(await gate.waitForArrival())
        try await session.signOut()
        gate.open()
        await #expect(throws: MerganserError.signedOut(.requested)) { try await late.value }
        #expect(await session.state == .signedOut(.requested))
        #expect(try deployment.count("SELECT COUNT(*) FROM refresh_families WHERE revoked_at IS NULL") == 0)
    }

    // MARK: 5

    private let failures = [
        FaultProxy.Fault.lostRequest, .lostAnswer,
        .answer(status: 500, headers: [], body: #"{"error":"internal_error"}"#),
        .answer(status: 503, headers: [], body: #"{"error":"temporarily_unavailable"}"#),
        .answer(status: 429, headers: [("Retry-After", "3600")], body: #"{"error":"rate_limited"}"#),
        .answer(status: 401, headers: [], body: #"{"error":"invalid_client"}"#),
        // Hotels.
        .answer(status: 200, headers: [("Content-Type", "text/html")], body: "<html>Welcome"),
        .answer(status: 400, headers: [("Content-Type", "text/html")], body: "<html>Bad Request"),
        .answer(status: 200, headers: [], body: "{}"),
        .answer(status: 302, headers: [("Location", "http://127.0.0.1:1/")], body: ""),
    ]

    @Test func oneFailureEndsNothing() async throws {
        let store = try await deployment.signedIn()
        let session = try deployment.session(store)
        for fault in failures {
            let before = try #require(try await session.lastSession())
            proxy.arm(fault, at: "/oauth/token")
            await #expect(throws: MerganserError.self, "\(fault)") { try await session.refresh() }
            #expect(try await session.lastSession() == before, "\(fault)")
            #expect(await session.state == .known(before.claims), "\(fault)")
            let after = try await deployment.session(store).refresh()
            #expect(after.refreshToken != before.refreshToken, "\(fault)")
        }
        #expect(try deployment.count("SELECT COUNT(*) FROM refresh_families WHERE revoked_at IS NOT NULL") == 0)
    }

    @Test func aTokenThatIsStillGoodIsHandedOutOffline() async throws {
        let store = try await deployment.signedIn()
        let session = try deployment.session(store)
        let token = try await session.accessToken()
        proxy.arm(.lostRequest, at: "/oauth/token", times: 2)
        for _ in 0..<2 { await #expect(throws: MerganserError.offline) { try await session.refresh() } }
        #expect(try await session.accessToken() == token)
        // It has begun the interrupted refresh again, for whoever comes next.
        while try await session.lastSession()?.accessToken == token { await Task.yield() }
        #expect(Set(deployment.refreshes.map(\.key)).count == 1)
    }

    @Test func failuresAreRepeatedAndRetryAfterIsKept() async throws {
        let clock = TestDeviceClock()
        let store = try await deployment.signedIn(clock: clock)
        proxy.arm(.lostRequest, at: "/oauth/token")
        proxy.arm(.answer(status: 503, headers: [("Retry-After", "1")], body: "{}"), at: "/oauth/token")
        proxy.arm(.cutAnswer(after: 30), at: "/oauth/token")
        try await deployment.session(store, clock: clock, attempts: 4).refresh()
        #expect(deployment.refreshes.count == 4)
        #expect(Set(deployment.refreshes.map { "\($0)" }).count == 1)
        #expect(clock.sleeps.filter { $0 >= .seconds(1) && $0 < .seconds(600) }.count == 1)
    }

    @Test func aDefiniteAnswerAboutTheStoredTokenSignsOut() async throws {
        let store = try await deployment.signedIn()
        try deployment.run("UPDATE refresh_families SET revoked_at = NOW(3)")
        let session = try deployment.session(store)
        await #expect(throws: MerganserError.signedOut(.signInAgain)) { try await session.refresh() }
        #expect(await session.state == .signedOut(.signInAgain))
    }

    // MARK: 6

    @Test func beforeTheFirstUnlockNothingIsKnown() async throws {
        let store = InMemoryStore()
        _ = try await deployment.signedIn(store: store)
        store.fault = .locked
        let session = try deployment.session(store)
        var states = session.states.makeAsyncIterator()
        #expect(await states.next() == .unknown(.locked))
        await #expect(throws: MerganserError.storeUnavailable(.locked)) { try await session.accessToken() }
        await #expect(throws: MerganserError.storeUnavailable(.locked)) { try await session.refresh() }
        await #expect(throws: MerganserError.storeUnavailable(.locked)) { try await session.signOut() }
        store.fault = nil
        _ = try await session.accessToken()
        guard case .known = await states.next() else {
            Issue.record("the user is signed in")
            return
        }
    }

    @Test func anAnswerThatCannotBeStoredIsHadAgain() async throws {
        let store = InMemoryStore()
        _ = try await deployment.signedIn(store: store)
        let session = try deployment.session(store)
        let gate = FaultProxy.Gate()
        proxy.arm(.held(gate), at: "/oauth/token")
        let refreshing = Task { try await session.refresh() }
        #expect(await gate.waitForArrival())
        store.fault = .unreadable("full")
        gate.open()
        await #expect(throws: MerganserError.storeUnavailable(.unreadable("full"))) { try await refreshing.value }
        store.fault = nil
        _ = try await session.refresh()
        _ = try await session.refresh()
    }

    // MARK: 7

    @Test(arguments: [7200.0, -7200]) func aWrongClockDoesNotMatter(wrong: TimeInterval) async throws {
        let clock = TestDeviceClock(wrong: wrong)
        let store = try await deployment.signedIn(clock: clock)
        let session = try deployment.session(store, clock: clock)
        _ = try await session.accessToken()
        // Somebody sets the date while the app runs.
        clock.set(wrong: -wrong)
        _ = try await session.accessToken()
        #expect(deployment.refreshes.isEmpty)
        clock.set(wrong: wrong)
        // The next launch.
        let next = try deployment.session(store, clock: clock)
        _ = try await next.accessToken()
        #expect(deployment.refreshes.isEmpty)
        clock.advance(by: later)
        _ = try await next.accessToken()
        #expect(deployment.refreshes.count == 1)
    }

    /// One answer has a Date that is hours off; the next one sets it right.
    @Test(arguments: [7200.0, -7200]) func aWrongDateEndsNothing(wrong: TimeInterval) async throws {
        let session = try deployment.session(try await deployment.signedIn())
        proxy.arm(.date(httpDate(Date() + wrong)), at: "/oauth/token")
        _ = try? await session.refresh()
        _ = try await session.accessToken()
        _ = try await session.refresh()
        let count = deployment.refreshes.count
        _ = try await session.accessToken()
        #expect(deployment.refreshes.count == count)
        #expect(try deployment.count("SELECT COUNT(*) FROM refresh_families WHERE revoked_at IS NOT NULL") == 0)
        guard case .known = await session.state else {
            Issue.record("the user is signed in")
            return
        }
    }

    /// So has the answer of a sign-in. It fails, and the next one works.
    @Test(arguments: [7200.0, -7200]) func aWrongDateAtSignInLeavesNothing(wrong: TimeInterval) async throws {
        let session = try deployment.session(
            try await deployment.signedIn(), browser: try await deployment.app(subject: "person"))
        try await session.signOut(.everywhere)
        proxy.arm(.date(httpDate(Date() + wrong)), at: "/oauth/token")
        await #expect(throws: MerganserError.invalidIDToken(wrong > 0 ? .expired : .notYetValid)) {
            try await session.signIn()
        }
        #expect(await session.state == .signedOut(.requested))
        let signedIn = try await session.signIn()
        #expect(await session.state == .known(signedIn.claims))
        #expect(try await session.accessToken() == signedIn.accessToken)
    }

    /// As in a Date field (RFC 9110 §5.6.7).
    private func httpDate(_ date: Date) -> String {
        date.formatted(
            Date.VerbatimFormatStyle(
                format: """
                    \(weekday: .abbreviated), \(day: .twoDigits) \(month: .abbreviated) \(year: .defaultDigits) \
                    \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits):\
                    \(second: .twoDigits) GMT
                    """, locale: Locale(identifier: "en_US_POSIX"), timeZone: .gmt,
                calendar: Calendar(identifier: .gregorian)))
    }

    @Test func aTokenIsFreshForAMinute() async throws {
        let clock = TestDeviceClock()
        let store = try await deployment.signedIn(clock: clock)
        let session = try deployment.session(store, clock: clock)
        _ = try await session.accessToken()
        clock.advance(by: .seconds(900 - 70))
        _ = try await session.accessToken()
        #expect(deployment.refreshes.isEmpty)
        clock.advance(by: .seconds(20))
        _ = try await session.accessToken()
        #expect(deployment.refreshes.count == 1)
    }

    // MARK: 9

    /// A launch with an expired token makes one request: the keys are stored, too.
    @Test func keysAreStored() async throws {
        let clock = TestDeviceClock()
        let store = try await deployment.signedIn(clock: clock)
        clock.advance(by: later)
        let before = proxy.exchanges.count
        _ = try await deployment.session(store, clock: clock).accessToken()
        #expect(proxy.exchanges.count == before + 1)
    }

    /// A token of a server that is another one than it says.
    @Test func anotherIssuersTokenIsRefused() async throws {
        var config = try deployment.config()
        config.tokenIssuer = nil
        let session = try deployment.session(
            InMemoryStore(), browser: try await deployment.app(subject: "person"), config: config)
        await #expect(throws: MerganserError.invalidIDToken(.wrongIssuer)) { try await session.signIn() }
        #expect(await session.state == .signedOut(.neverSignedIn))
    }
}
