import Threads
package import Time

/// Notifications that wait for their thread: no request waits for Apple, or shows by its time whether there was anything to
/// send.
package final class PushQueue: Sendable {
    /// What became of a notification at one device.
    package enum Outcome: String, CaseIterable, Sendable {
        case sent
        case failed
        /// The app is gone from the device, whose token was removed.
        case unregistered
        /// No attempt succeeded while it was of use.
        case expired
        /// Too many waited, or the instance ended.
        case dropped
    }

    private struct State {
        var waiting: [PushJob] = []
        /// Of the thread: what it has taken and not finished.
        var underWay = 0
        var isStopping = false
        var thread: Thread?
        var counts: [Outcome: Int] = [:]
    }

    /// The most notifications that wait.
    package static let capacity = 1000

    private let settings: PushSettings
    private let clock: Clock
    private let patience: Duration
    private let makeDirectory: @Sendable () -> any PushDirectory
    private let onLoss: @Sendable (Outcome, String) -> Void
    private let state = Monitor(State())

    /// - Parameters:
    ///   - patience: how long after the last notification the directory keeps what it holds.
    ///   - makeDirectory: called on the thread that sends.
    ///   - onLoss: is told why a notification was not sent; never whose it was.
    package init(
        _ settings: PushSettings, clock: Clock = .system, patience: Duration = .seconds(10),
        makeDirectory: @escaping @Sendable () -> any PushDirectory,
        onLoss: @escaping @Sendable (Outcome, String) -> Void
    ) {
        self.settings = settings
        self.clock = clock
        self.patience = patience
        self.makeDirectory = makeDirectory
        self.onLoss = onLoss
    }

    /// Does nothing if it was started before.
    package func start() {
        state.withLock { state in
            if state.thread == nil, !state.isStopping { state.thread = Thread { self.run() } }
        }
    }

    /// - Parameter user: whose devices get it.
    package func submit(_ notification: PushNotification, to user: Int64) {
        let isTaken = state.change { state in
            guard !state.isStopping, state.waiting.count + state.underWay < Self.capacity else { return false }
            state.waiting.append(PushJob(notification: notification, user: user))
            return true
        }
        if !isTaken { note(.dropped, "too many notifications wait, or the instance is about to exit") }
    }

    /// Takes no more notifications, and sends those that wait, without another attempt for any.
    ///
    /// - Parameter time: how long they are given; the rest is lost.
    package func stop(atMost time: Duration) {
        let thread = state.change { state in
            state.isStopping = true
            defer { state.thread = nil }
            return state.thread
        }
        guard let thread else { return }
        if waitUntilEmpty(atMost: time) { return thread.join() }
        thread.detach()
        for _ in 0..<waiting { note(.dropped, "the instance stopped before it was sent") }
    }

    package var waiting: Int { state.withLock { $0.waiting.count + $0.underWay } }

    /// How many since the start, for each outcome.
    package var counts: [(outcome: Outcome, count: Int)] {
        let counts = state.withLock(\.counts)
        return Outcome.allCases.map { ($0, counts[$0, default: 0]) }
    }

    /// Blocks until none waits.
    ///
    /// - Returns: false if that takes longer.
    @discardableResult
    package func waitUntilEmpty(atMost time: Duration) -> Bool {
        state.wait(atMost: time) { $0.waiting.isEmpty && $0.underWay == 0 ? true : nil } == true
    }

    private func run() {
        var work = PushWork(settings, clock, makeDirectory()) { self.note($0, $1) }
        var isResting = true
        while let jobs = next(after: work.pause ?? (isResting ? nil : patience)) {
            isResting = jobs.isEmpty && work.pause == nil
            if isResting { work.rest() }
            work.take(jobs)
            work.step(isLast: state.withLock(\.isStopping))
            let count = work.count
            state.change { $0.underWay = count }
        }
    }

    /// - Parameter pause: how long to wait for notifications; nil: until some come.
    /// - Returns: nil at the end.
    private func next(after pause: Duration?) -> [PushJob]? {
        let found = state.wait(atMost: pause ?? .seconds(3600)) { state -> [PushJob]?? in
            if state.waiting.isEmpty {
                guard state.isStopping, state.underWay == 0 else { return state.isStopping ? .some([]) : nil }
                return .some(nil)
            }
            defer { state.waiting = [] }
            state.underWay += state.waiting.count
            return state.waiting
        }
        return found ?? []
    }

    private func note(_ outcome: Outcome, _ reason: String?) {
        state.withLock { $0.counts[outcome, default: 0] += 1 }
        if let reason { onLoss(outcome, reason) }
    }
}

/// A notification whose devices are not known yet.
struct PushJob {
    let notification: PushNotification
    let user: Int64
}
