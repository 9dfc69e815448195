internal import Synchronization

/// Keeps requests that wait for a peer from taking all workers: an upload that nginx passes on as it comes, a call of
/// another service. At least a quarter of the workers stays free of them.
package final class SlowPeerGate: Sendable {
    private let permits: Atomic<Int>

    /// - Parameter workers: the server's threads. With a single one nobody may wait.
    package init(workers: Int) { permits = Atomic(workers - (workers + 3) / 4) }

    /// Runs `body` with a permit to wait; nil, at once, when all permits are taken. The answer to that is a 503.
    package func pass<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard permits.subtract(1, ordering: .relaxed).newValue >= 0 else {
            permits.add(1, ordering: .relaxed)
            return nil
        }
        defer { permits.add(1, ordering: .relaxed) }
        return try body()
    }
}
