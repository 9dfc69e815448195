internal import Synchronization

/// Keeps requests that wait for a peer from taking all workers: an upload that nginx passes on as it comes, a call of
/// another service. At least a quarter of the workers stays free of them.
///
/// And keeps each holder, an app or a client's network, from taking all permits: it gets another one only while it has fewer
/// than are left. The first takes half of them, the next half of the rest: whoever comes finds one until many hold some.
package final class SlowPeerGate: Sendable {
    private struct Permits {
        var left: Int
        /// Of those who have some.
        var held: [String: Int] = [:]
    }

    private let permits: Mutex<Permits>

    /// - Parameter workers: the server's threads. With a single one nobody may wait.
    package init(workers: Int) { permits = Mutex(Permits(left: workers - (workers + 3) / 4)) }

    /// Runs `body` with a permit to wait; nil, at once, when none is to be had. The answer to that is a 503.
    ///
    /// - Parameter holders: on whose account the permit goes.
    package func pass<Result, Failure: Error>(
        for holders: [String], _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard take(holders) else { return nil }
        defer { giveBack(holders) }
        return try body()
    }

    private func take(_ holders: [String]) -> Bool {
        permits.withLock { permits in
            guard permits.left > 0, holders.allSatisfy({ permits.held[$0, default: 0] < permits.left }) else {
                return false
            }
            permits.left -= 1
            for holder in holders { permits.held[holder, default: 0] += 1 }
            return true
        }
    }

    private func giveBack(_ holders: [String]) {
        permits.withLock { permits in
            permits.left += 1
            for holder in holders {
                let rest = permits.held[holder, default: 0] - 1
                permits.held[holder] = rest > 0 ? rest : nil
            }
        }
    }
}
