internal import Glibc

extension Server {
    package struct DrainResult: Sendable {
        /// Requests answered since the start.
        package var requests: Int
        /// Connections that were still open at the limit.
        package var cut: Int
    }

    /// Hands over and leaves with nothing lost; to be called once, when the successor is ready.
    ///
    /// A shared listener is left to the others. From one of our own, which the successor has replaced, all that still
    /// comes is taken; without a successor the path is freed first. Then kept connections are served until nginx closes
    /// them: closing one from this side could lose a request that is on its way. At the limit the rest is given up: it
    /// ends with the process.
    package func drain() -> DrainResult {
        let deadline = ContinuousClock.now + options.drainLimit
        if !socket.isShared {
            socket.withdraw()
            waitUntilNobodyComes(until: deadline)
        }
        stopAccepting()
        _ = connections.wait(atMost: max(.zero, deadline - .now)) { $0 == 0 ? $0 : nil }
        poller.stopAll()
        let cut = connections.withLock { $0 }
        for worker in workers.withLock({ $0 }) {
            // One that still waits for a peer or a handler would take its time.
            if cut == 0 { worker.join() } else { worker.detach() }
        }
        return DrainResult(requests: requests.load(ordering: .relaxed), cut: cut)
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
