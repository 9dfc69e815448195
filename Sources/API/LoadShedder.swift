import HTTP
import Logging
import Synchronization

/// Refuses requests that have already waited too long for a worker.
///
/// Under overload the queue in front of the workers grows until every client gives up before its turn, and all work is
/// for nobody. Whoever comes late is answered 503 at once instead: nothing was begun, so the same request may be repeated.
package final class LoadShedder: Sendable {
    /// Nil: every request is served, however late.
    private let limit: Duration?
    private let servingSince = Mutex<ContinuousClock.Instant?>(nil)
    private let sheds = Atomic(0)
    private let lastReport = Mutex<(time: ContinuousClock.Instant, count: Int)?>(nil)

    /// The log says how many at most this often.
    private static let reportInterval = Duration.seconds(10)

    package init(limit: Duration?) { self.limit = limit }

    /// How many requests were refused.
    package var count: Int { sheds.load(ordering: .relaxed) }

    /// To be called when the instance begins to serve. Whoever waits by then was held up by a restart and not by load, so
    /// that for as long as the limit everybody is served.
    package func beginServing() { servingSince.withLock { $0 = .now } }

    /// Whether the request is to be refused; counts and reports it then.
    func sheds(_ request: Request, _ logger: @autoclosure () -> Logger) -> Bool {
        guard let limit, request.waited > limit else { return false }
        if let since = servingSince.withLock({ $0 }), ContinuousClock.now - since <= limit { return false }
        let count = sheds.add(1, ordering: .relaxed).newValue
        report(count, waited: request.waited, logger())
        return true
    }

    private func report(_ count: Int, waited: Duration, _ logger: Logger) {
        let now = ContinuousClock.now
        let sinceReport = lastReport.withLock { last -> Int? in
            if let last, now - last.time < Self.reportInterval { return nil }
            defer { last = (now, count) }
            return count - (last?.count ?? 0)
        }
        guard let sinceReport else { return }
        logger.warning(
            "overloaded: requests that waited too long for a worker are refused",
            metadata: ["refused": .stringConvertible(sinceReport), "waited_seconds": "\(waited.inSeconds)"])
    }
}
