import API
import Database
import JOSE
import JSON
import MariaDB
import TestSupport
import Testing
import Threads
import Time

@testable import Accounts
@testable import Fetch

/// Sending logout tokens, and what becomes of one that is not taken (accounts §3.7).
@Suite struct LogoutDeliveryTests {
    private let scene: DeliveryScene
    private let oauth: OAuthScene

    init() throws {
        scene = try DeliveryScene()
        oauth = try OAuthScene(scene.app, signingKey: false)
    }

    private var now: Timestamp { scene.app.time.now }
    private var counts: DeliveryStatistics.Counts { scene.statistics.snapshot.logouts }

    /// An application that is told of sign-outs at this URL.
    private func application(url: String) throws -> TestClient {
        let application = try oauth.register()
        try scene.app.change(
            "UPDATE applications SET backchannel_logout_uri = ? WHERE id = ?", url, application.id)
        return application
    }

    private func receiver(
        answering respond: @escaping @Sendable (LocalHTTPServer.Request) -> LocalHTTPServer.Reply = { _ in .response() }
    ) throws -> (server: LocalHTTPServer, application: TestClient) {
        let server = try LocalHTTPServer(respond)
        return (server, try application(url: "\(server.url)/logout?of=merganser"))
    }

    private func signOut(at application: TestClient, sub: String = "42", sid: SessionID? = nil) throws {
        try scene.app.operate {
            $0.emit(LogoutNotice(application: Application.ID(rawValue: Int64(application.id)), sub: sub, sid: sid))
        }
    }

    /// The queue, as attempts and seconds until the next; `leased` while somebody has it.
    private func queue() throws -> [String] {
        try scene.app.sql { db in
            try db.all("SELECT attempts, next_attempt_at, lease IS NOT NULL FROM logout_tokens ORDER BY id") { row in
                let (attempts, next) = (try row.read(Int.self), try row.read(Timestamp.self))
                let isLeased = try row.read(Bool.self)
                return "\(attempts) \(Int((next - now) / .seconds(1)))\(isLeased ? " leased" : "")"
            }
        }
    }

    private func token(_ request: LocalHTTPServer.Request) throws -> String {
        let form = String(decoding: request.body, as: UTF8.self)
        return String(try #require(form.wholeMatch(of: /logout_token=([A-Za-z0-9_\-.]+)/)).1)
    }

    // MARK: What is sent

    @Test(arguments: [200, 204]) func aTokenIsPostedAsAForm(status: Int) throws {
        try scene.app.addSigningKey()
        let (server, application) = try receiver { _ in .response(status: status) }
        let sid = SessionHandle().sid(at: Application.ID(rawValue: Int64(application.id)))
        try signOut(at: application, sub: "17", sid: sid)
        #expect(try scene.dispatch() == 1)

        let request = try #require(server.requests.first)
        #expect(request.method == "POST" && request.path == "/logout?of=merganser")
        #expect(request.header("content-type") == "application/x-www-form-urlencoded")
        #expect(request.header("user-agent") == "merganser-logout/1")
        let jwt = try JWT(try token(request))
        try scene.app.sql { try jwt.verify(with: scene.app.service.accounts.signingKeys.keySet($0)) }
        #expect(jwt.type == "logout+jwt" && jwt.claims.audience == [application.clientID] && jwt.claims.subject == "17")
        #expect(jwt.claims.string("sid") == sid.text && jwt.claims["nonce"] == nil)
        #expect(try queue() == [] && scene.dispatch() == 0)
        #expect(counts.attempts[.delivered] == 1 && counts.dead == 0 && counts.buckets.reduce(0, +) == 1)
        #expect(scene.statistics.snapshot.webhooks.attempts[.delivered] == 0)
    }

    // MARK: Failures

    @Test(
        arguments: [
            (.response(status: 400, body: Array(#"{"error":"invalid_request"}"#.utf8)), .refused),
            (.response(status: 500), .refused), (.response(status: 202), .refused), (.response(status: 410), .refused),
            (.response(status: 302, headers: [("location", "/other")]), .refused),
            (.response(status: 503, headers: [("retry-after", "3000")]), .refused),
            (.reset, .unreachable), (.raw(Array("garbage".utf8)), .unreachable), (.silence, .timeout),
        ] as [(LocalHTTPServer.Reply, DeliveryStatistics.Outcome)])
    func everythingElseThan200And204IsAFailure(
        reply: LocalHTTPServer.Reply, outcome: DeliveryStatistics.Outcome
    ) throws {
        try scene.app.addSigningKey()
        let (server, application) = try receiver { _ in reply }
        try signOut(at: application)
        try scene.dispatch { $0.transfer.timeout = .seconds(5) }
        #expect(try queue() == ["1 10"])
        #expect(server.requests.count == 1)
        #expect(counts.attempts[outcome] == 1 && counts.attempts.values.reduce(0, +) == 1)
    }

    @Test func aRefusedConnectionIsAFailure() throws {
        try scene.app.addSigningKey()
        try signOut(at: application(url: "http://127.0.0.1:1/"))
        #expect(try scene.dispatch() == 1)
        #expect(try queue() == ["1 10"])
        #expect(counts.attempts[.unreachable] == 1)
    }

    /// By the form of the URL, and by what its host resolves to.
    @Test(arguments: ["http://127.0.0.1", "https://127.0.0.1", "https://rp.example"])
    func nothingIsSentToForbiddenAddresses(origin: String) throws {
        try scene.app.addSigningKey()
        let server = try LocalHTTPServer { _ in .response() }
        try signOut(at: application(url: "\(origin):\(server.port)/"))
        let loopback = try #require(IPAddress("127.0.0.1"))
        try scene.dispatch { options in
            options.transfer.allowsLoopbackHTTP = false
            options.resolve = { _ in [loopback] }
        }
        #expect(server.connections == 0)
        #expect(try queue() == ["1 10"])
        #expect(counts.attempts[.blocked] == 1)
    }

    @Test func fiveAttemptsAreMadeEachSignedAnew() throws {
        try scene.app.addSigningKey()
        let (server, application) = try receiver { _ in .response(status: 500) }
        try signOut(at: application)
        let begin = now
        for (index, wait) in [10, 60, 600, 3600].enumerated() {
            #expect(try scene.dispatch() == 1)
            #expect(try queue() == ["\(index + 1) \(wait)"])
            scene.app.time.advance(by: .seconds(wait) - .milliseconds(1))
            #expect(try scene.dispatch() == 0)
            scene.app.time.advance(by: .milliseconds(1))
        }
        #expect(counts.dead == 0)
        #expect(try scene.dispatch() == 1)
        #expect(try queue() == [])
        #expect(counts.dead == 1 && counts.attempts[.refused] == 5)

        let claims = try server.requests.map { try payload(of: token($0)) }
        #expect(Set(try claims.map { try #require($0["jti"]?.string) }).count == 5)
        let times = [0, 10, 70, 670, 4270].map { Int64(begin.seconds) + $0 }
        #expect(claims.map { $0["iat"] } == times.map { .integer($0) })
        #expect(claims.map { $0["exp"] } == times.map { .integer($0 + 120) })
    }

    @Test func aFailureIsForgottenWithTheTokenThatIsTaken() throws {
        try scene.app.addSigningKey()
        let isUp = Monitor(false)
        let (server, application) = try receiver { _ in .response(status: isUp.withLock { $0 } ? 200 : 500) }
        try signOut(at: application)
        #expect(try scene.dispatch() == 1)
        isUp.change { $0 = true }
        scene.app.time.advance(by: .seconds(10))
        #expect(try scene.dispatch() == 1)
        #expect(try queue() == [] && server.requests.count == 2)
    }

    // MARK: Who is not sent to

    @Test(
        arguments: [
            ("UPDATE applications SET status = 'suspended'", "UPDATE applications SET status = 'active'"),
            (
                "UPDATE applications SET app_link_url = backchannel_logout_uri, backchannel_logout_uri = NULL",
                "UPDATE applications SET backchannel_logout_uri = app_link_url"
            ),
        ] as [(StaticString, StaticString)])
    func tokensOfApplicationsThatAreNotSentToWait(off: StaticString, on: StaticString) throws {
        try scene.app.addSigningKey()
        let (server, application) = try receiver()
        try signOut(at: application)
        try scene.app.change(off)
        #expect(try scene.dispatch() == 0 && queue() == ["0 0"] && server.connections == 0)
        try scene.app.change(on)
        #expect(try scene.dispatch() == 1 && queue() == [])

        try signOut(at: application)
        try scene.app.change(off)
        scene.app.time.advance(by: .seconds(86_400))
        // Nobody tried to send it for a day.
        #expect(try scene.app.operate { try $0.collect(.logoutTokens, loginHistory: .zero) } == 1)
    }

    /// The fault is this server's, so no attempt is spent, and events are sent.
    @Test func withoutASigningKeyTheyWait() throws {
        let (server, application) = try receiver()
        let webhooks = try scene.receiver()
        try signOut(at: application)
        try scene.event(for: webhooks)
        #expect(throws: SigningKeyUnavailable.self) { try scene.dispatch() }
        #expect(try queue() == ["0 0"] && server.connections == 0)
        #expect(webhooks.events.count == 1)
        try scene.app.addSigningKey()
        #expect(try scene.dispatch() == 1 && queue() == [])
    }

    @Test func aFaultOfOneKindIsReportedOnce() throws {
        let webhooks = try scene.receiver()
        try signOut(at: receiver().application)
        let reported = Monitor<[DeliveryKind]>([])
        let dispatchers = Dispatchers(
            scene.app.service.accounts, scene.options { $0.lookInterval = .milliseconds(10) },
            statistics: scene.statistics, makeDatabase: { [options = scene.app.database.options] in Database(options) },
            report: { kind, _ in reported.change { $0.append(kind) } })
        dispatchers.start(1)
        for count in 1...5 {
            try scene.event(for: webhooks)
            #expect(webhooks.server.waitForRequests(count))
        }
        dispatchers.stop()
        #expect(reported.withLock { $0 } == [.logout])
    }

    /// How long the oldest one has been due is the operator's to know, unless its receiver is at fault.
    @Test func theOperatorSeesThatNobodySendsThem() throws {
        let application = try application(url: "http://127.0.0.1:1/")
        func delay() throws -> Duration? {
            try scene.app.sql { try $0.accountsUpkeep(at: now)?.logoutDelay }
        }
        #expect(try delay() == .zero)
        try signOut(at: application)
        scene.app.time.advance(by: .seconds(300))
        #expect(try delay() == .seconds(300))
        try scene.app.change("UPDATE applications SET status = 'suspended'")
        #expect(try delay() == .zero)
        try scene.app.change("UPDATE applications SET status = 'active'")
        try scene.app.change("UPDATE logout_tokens SET attempts = 1")
        #expect(try delay() == .zero)
    }

    // MARK: Receivers that hang

    /// Those of one kind have all of its places.
    @Test(arguments: [DeliveryKind.webhook, .logout]) func oneKindDoesNotDelayTheOther(hanging: DeliveryKind) throws {
        try scene.app.addSigningKey()
        let isOver = Monitor(false)
        let hang: @Sendable (LocalHTTPServer.Request) -> LocalHTTPServer.Reply = { _ in
            _ = isOver.wait(atMost: .seconds(60)) { $0 ? true : nil }
            return .response()
        }
        var silent: [LocalHTTPServer] = []
        for _ in 0..<3 {
            switch hanging {
            case .webhook:
                let receiver = try scene.receiver(answering: hang)
                for _ in 0..<2 { try scene.event(for: receiver) }
                silent.append(receiver.server)
            case .logout:
                let (server, application) = try receiver(answering: hang)
                for _ in 0..<2 { try signOut(at: application) }
                silent.append(server)
            case .appleRevocation: break
            }
        }
        let healthy: LocalHTTPServer
        switch hanging {
        case .webhook:
            let (server, application) = try receiver()
            for _ in 0..<10 { try signOut(at: application) }
            healthy = server
        case .logout, .appleRevocation:
            let receiver = try scene.receiver()
            for _ in 0..<10 { try scene.event(for: receiver) }
            healthy = receiver.server
        }
        let thread = DispatcherThread(
            try scene.dispatcher {
                $0.concurrency = 4
                $0.logoutConcurrency = 4
            })
        #expect(healthy.waitForRequests(10))
        // Two of the three are under way.
        #expect(silent.map(\.requests.count).reduce(0, +) <= 4)
        isOver.change { $0 = true }
        try thread.finish()
        #expect(silent.map(\.requests.count) == [2, 2, 2])
    }

    /// At most two tokens of an application are under way, and one once it has failed.
    @Test func oneApplicationDoesNotDelayAnother() throws {
        try scene.app.addSigningKey()
        let isOver = Monitor(false)
        let (silent, application) = try receiver { _ in
            _ = isOver.wait(atMost: .seconds(60)) { $0 ? true : nil }
            return .response(status: 500)
        }
        let (healthy, other) = try receiver()
        for _ in 0..<5 { try signOut(at: application) }
        for _ in 0..<5 { try signOut(at: other) }
        let thread = DispatcherThread(try scene.dispatcher { $0.logoutConcurrency = 4 })
        #expect(healthy.waitForRequests(5))
        #expect(silent.requests.count == 2)
        isOver.change { $0 = true }
        try thread.finish()
        #expect(try queue() == Array(repeating: "1 10", count: 5))

        // Now it is known to fail.
        isOver.change { $0 = false }
        scene.app.time.advance(by: .seconds(10))
        for _ in 0..<5 { try signOut(at: other) }
        let next = DispatcherThread(try scene.dispatcher { $0.logoutConcurrency = 4 })
        #expect(healthy.waitForRequests(10))
        #expect(silent.waitForRequests(6) && silent.requests.count == 6)
        isOver.change { $0 = true }
        try next.finish()
        #expect(try queue() == Array(repeating: "2 60", count: 5))
    }

    /// However many older tokens wait for others, an application need not wait for all of them, be they slow or failing.
    @Test(arguments: [200, 500]) func applicationsTakeTurns(status: Int) throws {
        try scene.app.addSigningKey()
        let order = Monitor<[String]>([])
        let busy = try (0..<2).map { _ in
            try receiver { _ in
                order.change { $0.append("busy") }
                return .response(status: status)
            }
        }
        let (server, other) = try receiver { _ in
            order.change { $0.append("other") }
            return .response()
        }
        for (_, application) in busy {
            for _ in 0..<10 { try signOut(at: application) }
        }
        scene.app.time.advance(by: .seconds(1))
        try signOut(at: other)
        // Two places either way.
        if status == 500 { try scene.app.change("UPDATE logout_tokens SET attempts = 1") }
        #expect(try scene.dispatch { $0.logoutConcurrency = status == 500 ? 4 : 2 } == 21)
        #expect(server.requests.count == 1)
        #expect(try #require(order.withLock { $0.firstIndex(of: "other") }) < 10)
    }

    // MARK: Leases

    @Test func aLostTokenIsSentAgainAfterItsLease() throws {
        try scene.app.addSigningKey()
        let (server, application) = try receiver()
        try signOut(at: application)
        #expect(throws: Interrupted.self) {
            try scene.dispatch { options in
                options.time = { [time = scene.app.time] _ in
                    // The next question for the time comes from the record of the outcome.
                    if server.connections > 0 { throw Interrupted() }
                    return time.now
                }
            }
        }
        #expect(try queue() == ["0 60 leased"])
        scene.app.time.advance(by: .milliseconds(59_999))
        #expect(try scene.dispatch() == 0)
        scene.app.time.advance(by: .milliseconds(1))
        #expect(try scene.dispatch() == 1 && queue() == [])
        let tokens = try server.requests.map { try payload(of: token($0))["jti"] }
        #expect(tokens.count == 2 && tokens[0] != tokens[1])
    }

    /// What a dispatcher says after its lease counts only if it was a success.
    @Test func aLateOutcomeOfSomebodyElsesLease() throws {
        try scene.app.addSigningKey()
        let (_, application) = try receiver()
        for _ in 0..<2 { try signOut(at: application) }
        let (lost, held) = (try claim(), try claim())
        #expect(lost.count == 2 && held.isEmpty)
        scene.app.time.advance(by: .seconds(60))
        #expect(try claim().map(\.attempt) == [1, 1])
        _ = try scene.app.operate {
            try LogoutDelivery.record([AttemptOutcome(lost[0], failure: .timeout)], at: now, in: $0)
        }
        #expect(try queue() == ["0 60 leased", "0 60 leased"])
        try scene.app.operate { try LogoutDelivery.release(lost, at: now, in: $0) }
        #expect(try queue() == ["0 60 leased", "0 60 leased"])
        let answer = Fetcher.Response(status: 200, headers: [], body: [])
        _ = try scene.app.operate {
            try LogoutDelivery.record([AttemptOutcome(lost[0], answer, duration: .zero)], at: now, in: $0)
        }
        #expect(try queue() == ["0 60 leased"])
    }

    private func claim() throws -> [LogoutDelivery] {
        try scene.app.operate { transaction in
            let due = try LogoutDelivery.dueTargets(
                transaction.connection, at: now, of: scene.app.service.accounts)
            return try LogoutDelivery.claim(
                for: due.map { ($0, 10) }, at: now, of: scene.app.service.accounts, in: transaction)
        }
    }

    @Test(arguments: [63, 64, 300]) func whatWaitsCostsNothing(waiting: Int) throws {
        let receiver = try receiver()
        for number in 0..<waiting { try signOut(at: receiver.application, sub: "\(number)") }
        try scene.app.sql { connection in
            let start = try rowsRead(connection)
            let due = try LogoutDelivery.dueTargets(connection, at: now, of: scene.app.service.accounts)
            #expect(due.count == 1 && due.first?.isFailing == false)
            #expect(try rowsRead(connection) - start <= 2 * dueRowsReadAtOnce)
        }
    }

    /// Of indexes, one after the other.
    private func rowsRead(_ connection: Connection) throws -> Int {
        try connection.query("SHOW SESSION STATUS WHERE Variable_name IN ('Handler_read_next', 'Handler_read_prev')")
            .reduce(0) { sum, row in
                sum + (try #require(row[1].flatMap { Int(String(decoding: $0, as: UTF8.self)) }))
            }
    }

    @Test func noTokenIsClaimedTwice() throws {
        try scene.app.addSigningKey()
        let receivers = try (0..<4).map { _ in try receiver() }
        for number in 0..<20 {
            for receiver in receivers { try signOut(at: receiver.application, sub: "\(number)") }
        }
        let threads = try (0..<3).map { _ in DispatcherThread(try scene.dispatcher()) }
        for thread in threads { try thread.finish() }
        for receiver in receivers {
            let subs = try receiver.server.requests.map { try payload(of: token($0))["sub"]?.string }
            #expect(subs.count == 20 && Set(subs).count == 20)
        }
        #expect(try queue() == [])
    }

    // MARK: A process's dispatchers

    @Test func aCommitWakesTheDispatchers() throws {
        try scene.app.addSigningKey()
        let (server, application) = try receiver()
        let idle = IdleDispatcher(scene)
        #expect(idle.waitUntilIdle())
        try signOut(at: application)
        #expect(server.waitForRequests(1))
        idle.stop()
        #expect(try queue() == [])
    }
}
