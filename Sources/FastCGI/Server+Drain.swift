internal import Glibc

extension Server {
    package struct DrainResult: Sendable {
        /// Requests answered since the start.
        package var requests: Int
        /// Idle connections that nginx had not closed by the limit.
        package var cut: Int
    }

    /// Hands over and leaves with nothing lost; to be called once, when the successor is ready.
    ///
    /// A shared listener is left to the others. From one of our own, which the successor has replaced, all that still
    /// comes is taken; without a successor the path is freed first. Then kept connections are served until nginx closes
    /// them: closing one from this side could lose a request that is on its way. At the limit idle ones are given up and end
    /// with the process, but not before what is under way is answered: how long a slow upload may take is for whoever waits
    /// for the process to decide.
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

    /// Who looked the path up before it changed hands may connect a moment later. The workers take them.
    private func waitUntilNobodyComes(until deadline: ContinuousClock.Instant) {
        var quietSince = ContinuousClock.now
        while ContinuousClock.now - quietSince < .milliseconds(100), ContinuousClock.now < deadline {
            if socket.hasWaitingConnection { quietSince = .now }
            usleep(5000)
        }
    }

    private func stopAccepting() {
        poller.remove(listener: socket.watchedDescriptor)
        // For a shared listener's connection the kernel wakes one instance. That may just have been this one, so what
        // waits now is taken: the others may not know of it.
        admitConnections()
        socket.close()
    }
}
