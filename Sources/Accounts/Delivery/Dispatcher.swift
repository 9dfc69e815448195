package import Database
package import Fetch
package import MariaDB
internal import Synchronization
package import Time

/// Sends due messages to their receivers, many at once on one thread: events (accounts §3.4), logout tokens (accounts
/// §3.7), and tokens that Apple is to revoke (accounts §4.5).
///
/// It claims messages by a lease that is committed before anything is sent, so that any number of dispatchers may run; it
/// sends them without any transaction; then it records what became of them. If it is killed in between, the lease ends
/// and the message is sent again.
package final class Dispatcher {
    package struct Options: Sendable {
        /// How many events may be under way.
        package var concurrency = 512
        /// How many logout tokens may be.
        package var logoutConcurrency = 128
        /// How many revocations at Apple may be.
        package var appleConcurrency = 2
        /// How long it waits before it looks for due messages again, unless it is woken.
        package var lookInterval = Duration.seconds(1)
        package var transfer: Fetcher.Options
        /// Returns a name's addresses; nil: the system's resolver.
        package var resolve: (@Sendable (String) -> [IPAddress])?
        /// The time that leases and waits are counted by.
        package var time: @Sendable (Connection) throws -> Timestamp = { try $0.deliveryTime() }

        /// - Parameter isDevelopment: whether messages may go to this machine.
        package init(isDevelopment: Bool) {
            transfer = Fetcher.Options()
            transfer.timeout = .seconds(15)
            transfer.connectTimeout = .seconds(5)
            transfer.maximumSize = 4096
            transfer.cutsBody = true
            transfer.allowsLoopbackHTTP = isDevelopment
        }
    }

    /// Makes a dispatcher look for due messages now, from any thread.
    package struct Waker: Sendable {
        fileprivate let bell: Bell
        fileprivate let pool: Fetch.Waker

        package func wake() {
            bell.ring()
            pool.wake()
        }
    }

    /// Whether somebody has asked for a look.
    fileprivate final class Bell: Sendable {
        private let hasRung = Atomic(false)

        func ring() { hasRung.store(true, ordering: .releasing) }
        func silence() -> Bool { hasRung.exchange(false, ordering: .acquiring) }
    }

    /// Longer than any attempt takes.
    private static let drainLimit = Duration.seconds(20)

    private let pool: TransferPool<LaneKey>
    private let lanes: [any Lane]
    private let bell = Bell()

    package init(
        _ accounts: Accounts, _ database: Database, _ options: Options, statistics: DeliveryStatistics
    ) throws(FetchError) {
        pool = try TransferPool(options.transfer, resolve: options.resolve)
        let parts = DispatcherParts(
            accounts: accounts, database: database, options: options, statistics: statistics, pool: pool)
        lanes = Self.kinds(of: accounts).map { kind in
            switch kind {
            case .webhook: DeliveryLane<WebhookDelivery>(parts, places: options.concurrency)
            case .logout: DeliveryLane<LogoutDelivery>(parts, places: options.logoutConcurrency)
            case .appleRevocation: DeliveryLane<AppleRevocation>(parts, places: options.appleConcurrency)
            }
        }
    }

    /// What a dispatcher sends: without the settings of Apple's client no revocations, which wait (accounts §4.5).
    static func kinds(of accounts: Accounts) -> [DeliveryKind] {
        DeliveryKind.allCases.filter { $0 != .appleRevocation || accounts.apple != nil }
    }

    package var waker: Waker { Waker(bell: bell, pool: pool.waker) }

    /// Sends what is due now, and what becomes due meanwhile, and returns when nothing is due and nothing under way.
    ///
    /// - Returns: how many attempts were made.
    /// - Throws: the first fault of a kind of message; then the other kind has been sent nevertheless.
    package func runOnce() throws -> Int {
        let attempts = lanes.map(\.attempts)
        var working = lanes
        var fault: (any Error)?
        while true {
            working.removeAll { lane in
                do {
                    _ = try lane.work()
                    return false
                } catch {
                    fault = fault ?? error
                    return true
                }
            }
            // Whatever has ended was followed by a look, which found nothing.
            if working.allSatisfy(\.isIdle) { break }
            poll(until: working.map(\.nextStep))
        }
        if let fault { throw fault }
        return zip(lanes, attempts).reduce(0) { $0 + $1.0.attempts - $1.1 }
    }

    /// Works until `isRunning` says no, and then until nothing is under way.
    ///
    /// - Parameters:
    ///   - isRunning: asked after each wait; use `waker` if its answer has changed.
    ///   - report: gets the first of several faults in a row of a kind of message.
    package func run(while isRunning: () -> Bool, report: (DeliveryKind, any Error) -> Void) {
        var failing: Set<DeliveryKind> = []
        func attempt(_ lane: any Lane, _ step: () throws -> Bool) {
            do {
                if try step() { failing.remove(lane.kind) }
            } catch {
                if failing.insert(lane.kind).inserted { report(lane.kind, error) }
            }
        }
        while isRunning() {
            if bell.silence() { for lane in lanes { lane.wake() } }
            for lane in lanes { attempt(lane) { try lane.work() } }
            poll(until: lanes.map(\.nextStep))
        }
        let end = ContinuousClock.now + Self.drainLimit
        while !lanes.allSatisfy(\.isIdle), ContinuousClock.now < end {
            for lane in lanes { attempt(lane, lane.record) }
            if !lanes.allSatisfy(\.isIdle) { poll(until: [.now + .milliseconds(100)]) }
        }
        let abandoned = Dictionary(grouping: pool.abandon(), by: \.lane)
        for lane in lanes {
            attempt(lane) {
                try lane.release(abandoned[lane.kind, default: []].map(\.number))
                return true
            }
        }
    }

    /// Waits for answers until the earliest of these times.
    private func poll(until times: [ContinuousClock.Instant]) {
        let wait = times.min().map { max(.zero, $0 - .now) } ?? .zero
        for completion in pool.poll(atMost: wait) {
            lanes.first { $0.kind == completion.key.lane }?.finish(completion.key.number, completion)
        }
    }
}
