internal import Synchronization
internal import Threads

/// Limits the callers that wait for a fetch, for all providers together. These callers also count among the requests
/// that wait for a peer.
final class KeySetWaiters: Sendable {
    private let permits: Atomic<Int>
    private let slowPeers: SlowPeerGate?

    /// - Parameter limit: how many callers may wait at a time.
    init(limit: Int, _ slowPeers: SlowPeerGate?) {
        permits = Atomic(limit)
        self.slowPeers = slowPeers
    }

    /// - Returns: false, at once, if too many are already waiting.
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
