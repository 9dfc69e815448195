package import Database
package import Fetch
package import MariaDB
package import Time

/// Sends due events to their receivers, many at once on one thread (accounts §3.4).
///
/// It claims events by a lease that is committed before anything is sent, so that any number of dispatchers may run; it
/// sends them without any transaction; then it records what became of them. If it is killed in between, the lease ends
/// and the same bytes are sent again.
package final class Dispatcher {
    package struct Options: Sendable {
        /// How many events may be under way.
        package var concurrency = 512
        /// How long it waits before it looks for due events again, unless it is woken.
        package var lookInterval = Duration.seconds(1)
        package var transfer: Fetcher.Options
        /// Returns a name's addresses; nil: the system's resolver.
        package var resolve: (@Sendable (String) -> [IPAddress])?
        /// The time that leases and waits are counted by.
        package var time: @Sendable (Connection) throws -> Timestamp = { try $0.deliveryTime() }

        /// - Parameter isDevelopment: whether webhooks may go to this machine.
        package init(isDevelopment: Bool) {
            transfer = Fetcher.Options()
            transfer.timeout = .seconds(15)
            transfer.connectTimeout = .seconds(5)
            transfer.maximumSize = 4096
            transfer.cutsBody = true
            transfer.allowsLoopbackHTTP = isDevelopment
            transfer.userAgent = "merganser-webhook/1"
        }
    }

    /// How many events of one application may be under way.
    private static let perApplication = 2
    /// Longer than any attempt takes.
    private static let drainLimit = Duration.seconds(20)

    private let accounts: Accounts
    private let database: Database
    private let options: Options
    private let statistics: DeliveryStatistics
    private let pool: TransferPool<Int>
    private var lastKey = 0
    private var underWay: [Int: WebhookDelivery] = [:]
    /// The outcomes that are not recorded yet.
    private var outcomes: [DeliveryOutcome] = []

    package init(
        _ accounts: Accounts, _ database: Database, _ options: Options, statistics: DeliveryStatistics
    ) throws(FetchError) {
        self.accounts = accounts
        self.database = database
        self.options = options
        self.statistics = statistics
        pool = try TransferPool(options.transfer, resolve: options.resolve)
    }

    /// Makes it look for due events now, from any thread.
    package var waker: Waker { pool.waker }

    /// Sends what is due now, and what becomes due meanwhile, and returns when nothing is due and nothing under way.
    ///
    /// - Returns: how many attempts were made.
    package func runOnce() throws -> Int {
        var attempts = 0
        while true {
            try look()
            if underWay.isEmpty && outcomes.isEmpty { return attempts }
            poll(atMost: outcomes.isEmpty ? options.lookInterval : .zero)
            attempts += outcomes.count
            try record()
        }
    }

    /// Works until `isRunning` says no, and then until nothing is under way.
    ///
    /// - Parameters:
    ///   - isRunning: asked after each wait; use `waker` if its answer has changed.
    ///   - report: gets the first of several faults in a row.
    package func run(while isRunning: () -> Bool, report: (any Error) -> Void) {
        var isFailing = false
        func attempt(_ step: () throws -> Void) {
            do {
                try step()
                isFailing = false
            } catch {
                if !isFailing { report(error) }
                isFailing = true
            }
        }
        while isRunning() {
            attempt {
                do {
                    try record()
                    try look()
                } catch {
                    // While the database does not answer, receivers do.
                    poll(atMost: options.lookInterval)
                    throw error
                }
                poll(atMost: outcomes.isEmpty ? options.lookInterval : .zero)
            }
        }
        let end = ContinuousClock.now + Self.drainLimit
        while !(underWay.isEmpty && outcomes.isEmpty), ContinuousClock.now < end {
            attempt { try record() }
            if !(underWay.isEmpty && outcomes.isEmpty) { poll(atMost: .milliseconds(100)) }
        }
        attempt { try release() }
    }

    // MARK: Steps

    /// Claims due events and begins to send them.
    private func look() throws {
        guard options.concurrency > underWay.count else { return }
        let (time, due) = try database.read { connection in
            let time = try options.time(connection)
            return (time, try connection.dueApplications(at: time))
        }
        let chosen = choose(due)
        if chosen.isEmpty { return }
        let deliveries = try write { transaction in
            try transaction.claimDeliveries(for: chosen, at: time, serverKey: accounts.serverKey)
        }
        for delivery in deliveries { send(delivery) }
    }

    /// Receivers that fail get half of the room at most, since each of their attempts may take the whole time.
    private func choose(_ due: [DueApplication]) -> [(application: DueApplication, count: Int)] {
        var room = options.concurrency - underWay.count
        var roomForFailing = options.concurrency / 2 - underWay.values.count(where: \.isFailing)
        var counts: [Application.ID: Int] = [:]
        for delivery in underWay.values { counts[delivery.application, default: 0] += 1 }
        var chosen: [(application: DueApplication, count: Int)] = []
        for application in due where room > 0 {
            let (limit, free) = application.isFailing ? (1, min(room, roomForFailing)) : (Self.perApplication, room)
            let count = min(limit - counts[application.id, default: 0], free)
            guard count > 0 else { continue }
            chosen.append((application, count))
            room -= count
            if application.isFailing { roomForFailing -= count }
        }
        return chosen
    }

    private func send(_ delivery: WebhookDelivery) {
        guard let headers = delivery.headers(at: delivery.claimedAt) else {
            outcomes.append(DeliveryOutcome(delivery, failure: .unsigned))
            return
        }
        guard let url = try? OutboundURL(delivery.url, allowsLoopbackHTTP: options.transfer.allowsLoopbackHTTP) else {
            outcomes.append(DeliveryOutcome(delivery, failure: .forbidden))
            return
        }
        lastKey += 1
        underWay[lastKey] = delivery
        pool.post(url, headers: headers, body: delivery.payload, as: lastKey)
    }

    /// Waits for answers.
    private func poll(atMost time: Duration) {
        for completion in pool.poll(atMost: time) {
            guard let delivery = underWay.removeValue(forKey: completion.key) else { continue }
            do {
                outcomes.append(
                    DeliveryOutcome(
                        delivery, try completion.result.get(), duration: completion.duration,
                        at: delivery.claimedAt + completion.duration))
            } catch {
                outcomes.append(
                    DeliveryOutcome(delivery, failure: DeliveryFailure(error), duration: completion.duration))
            }
        }
    }

    /// - Throws: what the database refuses. If it may take the outcomes later, they are kept; otherwise they are dropped,
    ///   and the events are sent again when their leases end.
    private func record() throws {
        if outcomes.isEmpty { return }
        let batch = outcomes
        outcomes = []
        do {
            let recorded = try write { transaction in
                try transaction.record(batch, at: options.time(transaction.connection))
            }
            statistics.count(batch, recorded)
        } catch let failure as TransactionFailure {
            outcomes = batch
            throw failure
        }
    }

    /// Gives back what is still under way.
    private func release() throws {
        let deliveries = pool.abandon().compactMap { underWay.removeValue(forKey: $0) }
        if deliveries.isEmpty { return }
        try write { transaction in
            try transaction.release(deliveries, at: options.time(transaction.connection))
        }
    }

    private func write<Result>(_ rule: (AccountsTransaction) throws -> Result) throws -> Result {
        try Accounts.write(database, at: accounts.clock, from: .dispatcher, rule)
    }
}

extension Origin {
    fileprivate static let dispatcher = Origin(requestID: "dispatcher", address: "")
}
