import API
import Database
import Fetch
import Glibc
import Synchronization
import TestSupport
import Testing
import Threads
import Time

@testable import Accounts

/// Dispatchers beside each other, beside receivers that hang, and at their end (accounts §3.4).
@Suite struct DispatcherTests {
    private let scene: DeliveryScene

    init() throws { scene = try DeliveryScene() }

    private var now: Timestamp { scene.app.time.now }

    // MARK: Many applications

    /// Hanging receivers hold what they have until everything else is delivered.
    @Test func hangingReceiversDelayNoOthers() throws {
        let isOver = Monitor(false)
        let hanging = try (0..<6).map { _ in
            try scene.receiver { _ in
                _ = isOver.wait(atMost: .seconds(60)) { $0 ? true : nil }
                return .response(status: 500)
            }
        }
        let healthy = try (0..<4).map { _ in try scene.receiver() }
        for _ in 0..<10 {
            for receiver in hanging + healthy { try scene.event(for: receiver) }
        }
        let thread = DispatcherThread(try scene.dispatcher())
        for receiver in healthy {
            #expect(receiver.server.waitForRequests(10))
            #expect(Set(receiver.events).count == 10)
        }
        for receiver in hanging {
            #expect(receiver.server.waitForRequests(2))
            #expect(receiver.server.requests.count == 2, "at most two are under way")
        }
        isOver.change { $0 = true }
        try thread.finish()
    }

    @Test func noEventIsClaimedTwice() throws {
        let receivers = try (0..<8).map { _ in try scene.receiver() }
        for _ in 0..<25 {
            for receiver in receivers { try scene.event(for: receiver) }
        }
        let threads = try (0..<4).map { _ in DispatcherThread(try scene.dispatcher()) }
        for thread in threads { try thread.finish() }
        for receiver in receivers {
            #expect(receiver.events.count == 25)
            #expect(Set(receiver.events).count == 25)
        }
        #expect(try scene.app.count("SELECT COUNT(*) FROM webhook_outbox WHERE delivered_at IS NULL") == 0)
        #expect(try scene.app.count("SELECT COUNT(*) FROM webhook_outbox WHERE attempts <> 1") == 0)
    }

    // MARK: Waits of its own

    /// Its thread waits for the database until the receiver's time is over. The answer has come meanwhile.
    @Test func aDatabaseThatHangsIsNotTheReceiversFault() throws {
        let isHanging = Monitor(false)
        let receiver = try scene.receiver { _ in
            _ = isHanging.wait(atMost: .seconds(60)) { $0 ? true : nil }
            return .response()
        }
        let id = try scene.event(for: receiver)
        try scene.dispatch { [time = scene.app.time, server = receiver.server] options in
            options.lookInterval = .zero
            options.transfer.timeout = .seconds(10)
            options.time = { _ in
                if server.requests.count == 1, !isHanging.withLock({ $0 }) {
                    isHanging.change { $0 = true }
                    sleep(12)
                }
                return time.now
            }
        }
        #expect(try scene.row(id) == .init(attempts: 1, next: nil, isDelivered: true))
        #expect(try scene.attempts(receiver.id) == ["1 200 -"])
        #expect(receiver.server.requests.map { $0.header("x-logi-delivery-attempt") } == ["1", "1"])
    }

    /// It asks for the time once for each look and each record.
    @Test func itLooksOnlyIfSomethingMayBeDue() throws {
        let receiver = try scene.receiver { _ in .silence }
        try scene.event(for: receiver)
        let count = Counter()
        try scene.dispatch { [time = scene.app.time] options in
            options.lookInterval = .seconds(3600)
            options.transfer.timeout = .seconds(10)
            options.time = { _ in
                count.value.add(1, ordering: .relaxed)
                return time.now
            }
        }
        #expect(try scene.attempts(receiver.id) == ["1 - timeout"])
        // A look for each of the two kinds of message that are sent without Apple's client, the record, and a look for what
        // that made room for.
        #expect(count.value.load(ordering: .relaxed) == 4)
    }

    // MARK: Leases

    /// Its dispatcher is gone between the lease and the outcome.
    @Test func aLostEventIsSentAgainAfterItsLease() throws {
        let receiver = try scene.receiver { _ in .silence }
        let id = try scene.event(for: receiver)
        #expect(throws: Interrupted.self) {
            try scene.dispatch { options in
                options.time = { [time = scene.app.time, server = receiver.server] _ in
                    // The next question for the time comes from the record of the outcome.
                    if server.connections > 0 { throw Interrupted() }
                    return time.now
                }
                options.lookInterval = .seconds(3600)
                options.transfer.timeout = .seconds(10)
            }
        }
        #expect(try scene.row(id) == .init(attempts: 0, next: now + .seconds(60)))
        scene.app.time.advance(by: .milliseconds(59_999))
        #expect(try scene.dispatch { $0.transfer.timeout = .seconds(10) } == 0)
        scene.app.time.advance(by: .milliseconds(1))
        #expect(try scene.dispatch { $0.transfer.timeout = .seconds(10) } == 1)
        let requests = receiver.server.requests
        #expect(requests.map { $0.header("x-logi-delivery-attempt") } == ["1", "1"])
        #expect(requests.allSatisfy { $0.body == DeliveryScene.payload(id) && $0.header("webhook-id") == id })
    }

    // MARK: A process's dispatchers

    @Test func aCommitWakesTheDispatchers() throws {
        let receiver = try scene.receiver()
        let idle = IdleDispatcher(scene)
        #expect(idle.waitUntilIdle())
        let id = try scene.event(for: receiver)
        try scene.app.operate { $0.wakeDispatchers() }
        #expect(receiver.server.waitForRequests(1))
        idle.stop()
        #expect(try scene.row(id).isDelivered)
    }

    @Test func stoppingFinishesWhatIsUnderWay() throws {
        let isStopping = Monitor(false)
        let receiver = try scene.receiver { _ in
            _ = isStopping.wait(atMost: .seconds(10)) { $0 ? true : nil }
            return .response()
        }
        let ids = try (0..<3).map { _ in try scene.event(for: receiver) }
        let dispatchers = dispatchers { $0.lookInterval = .milliseconds(10) }
        dispatchers.start(1)
        #expect(receiver.server.waitForRequests(2))
        dispatchers.beginStopping()
        isStopping.change { $0 = true }
        dispatchers.stop()
        #expect(try ids.map { try scene.row($0).isDelivered } == [true, true, false])
        #expect(try scene.row(ids[2]) == .init(attempts: 0, next: now))
    }

    private func dispatchers(_ change: (inout Dispatcher.Options) -> Void) -> Dispatchers {
        Dispatchers(
            scene.app.service.accounts, scene.options(change), statistics: scene.statistics,
            makeDatabase: { [options = scene.app.database.options] in Database(options) }, report: { _, _ in })
    }
}

struct Interrupted: Error {}

/// A process's dispatcher that looks once an hour, so that only a commit wakes it.
final class IdleDispatcher {
    private let dispatchers: Dispatchers
    private let looks: Monitor<Int>
    /// How many kinds of messages it looks for.
    private let kinds: Int

    init(_ scene: DeliveryScene) {
        let (looks, kinds) = (Monitor(0), Dispatcher.kinds(of: scene.app.service.accounts).count)
        (self.looks, self.kinds) = (looks, kinds)
        let options = scene.options { [time = scene.app.time] options in
            options.lookInterval = .seconds(3600)
            options.time = { _ in
                let count = looks.change { count in
                    count += 1
                    return count
                }
                // What is written after the first looks is due after them.
                return count <= kinds ? time.now - .seconds(1) : time.now
            }
        }
        dispatchers = Dispatchers(
            scene.app.service.accounts, options, statistics: scene.statistics,
            makeDatabase: { [options = scene.app.database.options] in Database(options) }, report: { _, _ in })
        dispatchers.start(1)
    }

    /// Waits until it has looked for each kind of message; false if it does not in time.
    func waitUntilIdle() -> Bool {
        looks.wait(atMost: .seconds(60)) { $0 >= kinds ? true : nil } ?? false
    }

    func stop() { dispatchers.stop() }
}

private final class Counter: Sendable {
    let value = Atomic(0)
}

/// A dispatcher that sends what is due, on a thread of its own.
struct DispatcherThread {
    private let job: JobThread

    init(_ dispatcher: Dispatcher) {
        // Nobody else uses it from now on.
        nonisolated(unsafe) let dispatcher = dispatcher
        job = JobThread { _ = try dispatcher.runOnce() }
    }

    func finish() throws {
        if let failure = job.failure { throw failure }
    }
}
