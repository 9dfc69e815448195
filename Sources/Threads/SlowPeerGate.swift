/// Keeps requests that wait for a peer from occupying all workers: uploads, which nginx passes on as they come, and
/// calls of other services. At least a quarter of the workers stays free of them.
///
/// It also keeps each holder, which is an app or a client's network, from taking all permits: a holder gets another
/// permit only while it has fewer than are left. So the first holder can take half of them, the next one half of the
/// rest, and new holders find a permit until many hold some.
package final class SlowPeerGate: Sendable {
    private struct Permits {
        var left: Int
        /// How many permits each holder has; holders without any are left out.
        var held: [String: Int] = [:]
    }

    private let permits: Monitor<Permits>

    /// - Parameter workers: how many threads the server has. If it has only one, no request may wait.
    package init(workers: Int) { permits = Monitor(Permits(left: workers - (workers + 3) / 4)) }

    /// Runs `body` with a permit to wait. If there is no permit, returns nil at once; the request is then answered 503.
    ///
    /// - Parameter holders: the holders that the permit counts for.
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
