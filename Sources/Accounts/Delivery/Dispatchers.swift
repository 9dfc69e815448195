package import Database
import Threads

/// The dispatchers of one process, each a thread with a database connection of its own. A commit of this process that
/// leaves messages to be sent wakes them.
package final class Dispatchers: Sendable {
    private struct State {
        var threads: [Thread] = []
        var wakers: [Dispatcher.Waker] = []
        var isStopping = false
    }

    private let accounts: Accounts
    private let options: Dispatcher.Options
    private let statistics: DeliveryStatistics
    private let makeDatabase: @Sendable () -> Database
    private let report: @Sendable (DeliveryKind, any Error) -> Void
    private let state = Monitor(State())

    /// - Parameter report: gets the first of several faults in a row of a kind of message, on a dispatcher's thread.
    package init(
        _ accounts: Accounts, _ options: Dispatcher.Options, statistics: DeliveryStatistics,
        makeDatabase: @escaping @Sendable () -> Database,
        report: @escaping @Sendable (DeliveryKind, any Error) -> Void
    ) {
        self.accounts = accounts
        self.options = options
        self.statistics = statistics
        self.makeDatabase = makeDatabase
        self.report = report
    }

    package func start(_ count: Int) {
        for _ in 0..<count {
            let thread = Thread { self.work() }
            state.withLock { $0.threads.append(thread) }
        }
    }

    /// From now on nothing is claimed.
    package func beginStopping() {
        let wakers = state.change { state in
            state.isStopping = true
            return state.wakers
        }
        for waker in wakers { waker.wake() }
    }

    /// Stops, and returns when what was under way has been recorded or given back.
    package func stop() {
        beginStopping()
        let threads = state.withLock { state in
            defer { state.threads = [] }
            return state.threads
        }
        for thread in threads { thread.join() }
    }

    private func work() {
        var hasFailed = false
        while !state.withLock(\.isStopping) {
            do {
                let dispatcher = try Dispatcher(accounts, makeDatabase(), options, statistics: statistics)
                let waker = dispatcher.waker
                state.withLock { $0.wakers.append(waker) }
                let listener = OutboxBell.Listener { waker.wake() }
                withExtendedLifetime(listener) {
                    dispatcher.run(while: { !state.withLock(\.isStopping) }, report: report)
                }
            } catch {
                if !hasFailed { for kind in Dispatcher.kinds(of: accounts) { report(kind, error) } }
                hasFailed = true
                _ = state.wait(atMost: .seconds(10)) { $0.isStopping ? true : nil }
            }
        }
    }
}
