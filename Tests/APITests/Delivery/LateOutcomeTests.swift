import API
import Accounts
import Database
import HTTP
import MariaDB
import Synchronization
import TestSupport
import Testing
import Threads
import Time

/// Outcomes that come after something else has happened to their event, their application or their record (accounts §3.4).
@Suite struct LateOutcomeTests {
    private let scene: DeliveryScene
    private let server: Server

    init() throws {
        scene = try DeliveryScene()
        server = Server(
            accounts: scene.app.service.accounts, database: scene.app.database.options, clock: scene.app.time.clock)
    }

    /// What a receiver's thread may use.
    private struct Server: Sendable {
        let accounts: Accounts
        let database: Connection.Options
        let clock: Clock

        func write<Result>(_ rule: (AccountsTransaction) throws -> Result) throws -> Result {
            try Accounts.write(Database(database), at: clock, from: Origin(requestID: "", address: ""), rule)
        }

        func replay(_ eventID: String, of receiver: DeliveryScene.Receiver) throws {
            let count = try write { try $0.replayEvents(.one(eventID: eventID), of: receiver.clientID) }
            #expect(count == 1)
        }

        func move(_ receiver: DeliveryScene.Receiver, to url: String) throws {
            var changes = ApplicationChanges()
            changes.webhookURL = .some(url)
            let approved = try ApprovedChanges(changes, by: accounts.settings.applicationRules)
            _ = try write { try $0.setApplication(receiver.clientID, approved) }
        }

        /// As if another dispatcher had claimed it.
        func claimAll(until time: Timestamp) throws {
            try Connection(database).execute(
                "UPDATE webhook_outbox SET lease = REPEAT('x', 16), next_attempt_at = ?", time)
        }
    }

    private var now: Timestamp { scene.app.time.now }

    /// What happens while the first request is under way.
    private final class Meanwhile: Sendable {
        private let action = Mutex<(@Sendable () throws -> Void)?>(nil)

        func set(_ body: @escaping @Sendable () throws -> Void) { action.withLock { $0 = body } }

        func happen() {
            let body = action.withLock { action in
                defer { action = nil }
                return action
            }
            #expect(throws: Never.self) { try body?() }
        }
    }

    private func receiver(answering status: Int = 200, _ meanwhile: Meanwhile) throws -> DeliveryScene.Receiver {
        try scene.receiver { _ in
            meanwhile.happen()
            return .response(status: status)
        }
    }

    private func failures(of receiver: DeliveryScene.Receiver) throws -> Int {
        try scene.app.count(
            "SELECT COALESCE(SUM(failures), 0) FROM webhook_failures WHERE application_id = ?", receiver.id)
    }

    // MARK: Events

    /// The developer wants what the receiver may have lost.
    @Test(arguments: [1, 2]) func aSuccessDoesNotAnswerALaterReplay(replays: Int) throws {
        let meanwhile = Meanwhile()
        let receiver = try receiver(meanwhile)
        let id = try scene.event(for: receiver)
        meanwhile.set { [server] in
            for _ in 0..<replays { try server.replay(id, of: receiver) }
        }
        try scene.dispatch()
        #expect(receiver.events == [id, id])
        #expect(try scene.row(id) == .init(attempts: 1, next: nil, isDelivered: true))
        // And a replay of the replay, at the same instant.
        meanwhile.set { [server] in try server.replay(id, of: receiver) }
        try server.replay(id, of: receiver)
        try scene.dispatch()
        #expect(receiver.events == [id, id, id, id])
    }

    @Test(arguments: [200, 410, 500]) func whatTheFormerURLAnswersDoesNotCount(status: Int) throws {
        let meanwhile = Meanwhile()
        let receiver = try receiver(answering: status, meanwhile)
        let next = try LocalHTTPServer { _ in .response() }
        let id = try scene.event(for: receiver)
        meanwhile.set { [server, url = "\(next.url)/new"] in try server.move(receiver, to: url) }
        try scene.dispatch()
        #expect(next.requests.compactMap { $0.header("x-logi-event-id") } == [id])
        #expect(next.requests.first?.header("x-logi-delivery-attempt") == "1")
        #expect(try scene.row(id) == .init(attempts: 1, next: nil, isDelivered: true))
        #expect(try failures(of: receiver) == 0)
        #expect(try !scene.isDisabled(receiver))
        #expect(try scene.attempts(receiver.id).count == 2)
    }

    /// Nobody need send it again: the lease has merely ended.
    @Test func aSuccessCountsAfterItsLease() throws {
        let meanwhile = Meanwhile()
        let receiver = try receiver(meanwhile)
        let id = try scene.event(for: receiver)
        meanwhile.set { [server, now] in try server.claimAll(until: now + .seconds(60)) }
        try scene.dispatch()
        #expect(try scene.row(id) == .init(attempts: 1, next: nil, isDelivered: true))
    }

    @Test func aFailureDoesNotCountAfterItsLease() throws {
        let meanwhile = Meanwhile()
        let receiver = try receiver(answering: 500, meanwhile)
        let id = try scene.event(for: receiver)
        meanwhile.set { [server, now] in try server.claimAll(until: now + .seconds(60)) }
        try scene.dispatch()
        #expect(try scene.row(id) == .init(attempts: 0, next: now + .seconds(60)))
        #expect(try failures(of: receiver) == 0)
    }

    // MARK: Records

    /// The dispatcher records the batch again, since it does not know.
    @Test(arguments: [200, 500]) func aCommitWithoutAnAnswerCountsOnce(status: Int) throws {
        guard case .unixSocket(let socket) = scene.app.database.options.address else {
            throw TestSupportError("MariaDB has no socket")
        }
        let proxy = try DatabaseProxy(to: socket)
        let meanwhile = Meanwhile()
        let receiver = try receiver(answering: status, meanwhile)
        let id = try scene.event(for: receiver)
        meanwhile.set { proxy.cut(.beforeAnswer) }
        let dispatcher = try Dispatcher(
            scene.app.service.accounts, Database(proxy.options(for: scene.app.database.options)), scene.options(),
            statistics: scene.statistics)
        let isDone = { scene.statistics.snapshot.webhooks.attempts.values.reduce(0, +) > 0 }
        let deadline = ContinuousClock.now + .seconds(30)
        dispatcher.run(while: { !isDone() && ContinuousClock.now < deadline }, report: { _, _ in })
        #expect(proxy.cutsMade == 1)
        #expect(receiver.events == [id])
        #expect(try scene.row(id).attempts == 1)
        #expect(try failures(of: receiver) == (status == 200 ? 0 : 1))
        #expect(try scene.attempts(receiver.id).count == 1)
    }

    /// Another dispatcher holds the row of a later application: this one has nothing yet that the other may want.
    @Test func failuresAreCountedInTheOrderOfApplications() throws {
        let isOpen = Monitor(0)
        let receivers = try [500, 200].map { status in
            try scene.receiver { _ in
                // Both answer at once, so that they are recorded together.
                isOpen.change { $0 += 1 }
                _ = isOpen.wait(atMost: .seconds(10)) { $0 >= 2 ? true : nil }
                return .response(status: status)
            }
        }
        let db = try scene.app.database.connect()
        for receiver in receivers {
            try db.execute(
                """
                INSERT INTO webhook_failures (application_id, failures, failing_since, failed_at) VALUES (?, 1, ?, ?)
                """, receiver.id, now, now)
            try scene.event(for: receiver)
        }
        try db.executeScript(
            "START TRANSACTION; SELECT 1 FROM webhook_failures WHERE application_id = \(receivers[0].id) FOR UPDATE")
        let dispatcher = try scene.dispatcher()
        // Nobody else uses it from now on.
        nonisolated(unsafe) let own = dispatcher
        let job = JobThread { _ = try own.runOnce() }
        try scene.app.waitForALockWait()
        try db.execute(
            "SELECT 1 FROM webhook_failures WHERE application_id = ? FOR UPDATE NOWAIT", receivers[1].id)
        try db.executeScript("COMMIT")
        #expect(job.failure == nil)
        #expect(try failures(of: receivers[0]) == 2)
        #expect(try failures(of: receivers[1]) == 0)
    }

    /// Only its own outcome is lost.
    @Test func anApplicationMayBeGone() throws {
        let isGone = Monitor(false)
        let gone = Mutex<Int?>(nil)
        let healthy = try scene.receiver { _ in
            // Both are recorded together.
            _ = isGone.wait(atMost: .seconds(10)) { $0 ? true : nil }
            return .response()
        }
        let failing = try scene.receiver { [database = scene.app.database.options] _ in
            let id = gone.withLock { $0 }
            #expect(throws: Never.self) {
                try Connection(database).execute("DELETE FROM applications WHERE id = ?", id)
            }
            isGone.change { $0 = true }
            return .response(status: 500)
        }
        gone.withLock { $0 = failing.id }
        try scene.event(for: failing)
        let id = try scene.event(for: healthy)
        try scene.dispatch()
        #expect(try scene.app.count("SELECT COUNT(*) FROM applications WHERE id = ?", failing.id) == 0)
        #expect(try scene.row(id).isDelivered)
        #expect(healthy.events == [id])
        #expect(try scene.attempts(failing.id) == [])
    }

    // MARK: Endpoints

    /// It did not fail for five days: nobody asked it.
    @Test(arguments: [31, 5 * 24 + 1]) func aTimeWithoutAttemptsDoesNotDisable(hours: Int) throws {
        let receiver = try scene.receiver(status: 500)
        try scene.event(for: receiver)
        try scene.dispatch()
        for _ in 0..<(hours < 100 ? 4 : 1) {
            scene.app.time.advance(by: .seconds(hours * 3600))
            try scene.dispatch()
        }
        #expect(receiver.server.requests.count > 1)
        #expect(try !scene.isDisabled(receiver))
        // With attempts a day apart it is disabled after five days.
        for _ in 0..<5 {
            #expect(try !scene.isDisabled(receiver))
            scene.app.time.advance(by: .seconds(29 * 3600))
            try scene.event(for: receiver)
            try scene.dispatch()
        }
        #expect(try scene.isDisabled(receiver))
    }
}
