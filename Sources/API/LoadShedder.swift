import HTTP
import Logging
import Synchronization

/// Refuses requests that have already waited too long for a worker.
///
/// Under overload the queue for the workers grows until every client gives up before its turn, and all work is wasted.
/// So a request that waited too long is answered with 503 at once. Nothing was begun, so the client may repeat it.
package final class LoadShedder: Sendable {
    /// Nil if no request is refused, however late it is.
    private let limit: Duration?
    private let servingSince = Mutex<ContinuousClock.Instant?>(nil)
    private let sheds = Atomic(0)
    private let lastReport = Mutex<(time: ContinuousClock.Instant, count: Int)?>(nil)

    /// The number of refused requests is logged at most this often.
    private static let reportInterval = Duration.seconds(10)

    package init(limit: Duration?) { self.limit = limit }

    /// The number of refused requests.
    package var count: Int { sheds.load(ordering: .relaxed) }

    /// Call this when the instance begins to serve. Requests that are waiting then were delayed by the restart and not
    /// by load, so no request is refused until the limit has passed.
    package func beginServing() { servingSince.withLock { $0 = .now } }

    /// Whether the request must be refused. If so, it is counted and reported.
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
