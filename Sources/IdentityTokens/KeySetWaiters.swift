internal import Synchronization
internal import Threads

/// The callers that wait for a fetch, whichever the provider. They are few, and count among the requests that wait for
/// somebody outside.
final class KeySetWaiters: Sendable {
    private let permits: Atomic<Int>
    private let slowPeers: SlowPeerGate?

    /// - Parameter limit: how many wait at a time.
    init(limit: Int, _ slowPeers: SlowPeerGate?) {
        permits = Atomic(limit)
        self.slowPeers = slowPeers
    }

    /// - Returns: false, at once, when too many wait already.
    func pass(_ wait: () -> Void) -> Bool {
        defer { permits.add(1, ordering: .relaxed) }
        guard permits.subtract(1, ordering: .relaxed).newValue >= 0 else { return false }
        guard let slowPeers else {
            wait()
            return true
        }
        return slowPeers.pass(for: [], wait) != nil
    }
}
