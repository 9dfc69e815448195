internal import Glibc
import Synchronization
import Threads

extension Server {
    package struct DrainResult: Sendable {
        /// How many requests were answered since the start.
        package var requests: Int
        /// How many idle connections nginx had not closed by the limit.
        package var cut: Int
    }

    /// Hands over to the successor and stops, without losing a request. Call this once, when the successor is ready.
    ///
    /// A shared listener is left to the other processes. If the listener is this process's own and the successor has
    /// replaced it, connections that still arrive are accepted; if there is no successor, the path is removed first.
    /// Then kept connections are served until nginx closes them: closing one from this side could lose a request that
    /// is on its way. At the limit, idle connections are given up and end with the process, but only after requests
    /// under way are answered. How long a slow upload may take is the decision of whoever waits for the process.
    package func drain() -> DrainResult {
        let deadline = ContinuousClock.now + options.drainLimit
        if !socket.isShared {
            socket.withdraw()
            waitUntilNobodyComes(until: deadline)
        }
        stopAccepting()
        _ = connections.wait(atMost: max(.zero, deadline - .now)) { $0 == 0 ? $0 : nil }
        keepsConnections.store(false, ordering: .relaxed)
        while requestsInFlight.load(ordering: .relaxed) > 0 { usleep(5000) }
        poller.stopAll()
        for worker in workers.withLock({ $0 }) { worker.join() }
        return DrainResult(
            requests: requests.load(ordering: .relaxed), cut: connections.withLock { $0 })
    }

    /// A client that looked up the path before it changed may connect a moment later. The workers accept its
    /// connection.
    private func waitUntilNobodyComes(until deadline: ContinuousClock.Instant) {
        var quietSince = ContinuousClock.now
        while ContinuousClock.now - quietSince < .milliseconds(100), ContinuousClock.now < deadline {
            if socket.hasWaitingConnection { quietSince = .now }
            usleep(5000)
        }
    }

    private func stopAccepting() {
        poller.remove(listener: socket.watchedDescriptor)
        // The kernel wakes one instance for each connection of a shared listener. It may just have woken this one, so
        // waiting connections are accepted now: the other instances may not know of them.
        admitConnections()
        socket.close()
    }
}
