internal import CFastCGI
internal import Glibc
import HTTP
import Synchronization
import Threads

/// The work of one of a server's threads.
struct Worker {
    private let server: Server
    private let handler: (Request) -> Response
    private let exchange: Exchange
    private let patience: Int32

    init(_ server: Server, _ handler: @escaping (Request) -> Response) {
        self.server = server
        self.handler = handler
        exchange = Exchange(receiveTimeout: server.options.receiveTimeout)
        // If an instance is killed after it was woken for a shared listener's connection and before it accepted the
        // connection, no other instance is woken for it. So check for waiting connections now and then.
        patience = server.socket.isShared ? 1000 : -1
    }

    /// Returns when the server stops.
    func run() {
        while true {
            guard let event = server.poller.wait(milliseconds: patience) else {
                acceptConnection()
                continue
            }
            switch event.source {
            case .stop: return
            case .listener: server.isBusy ? server.admitConnections() : acceptConnection()
            case .connection(let connection):
                if event.isHangup, peek(connection) == .end {
                    close(connection)
                } else {
                    serve(connection, isNew: false)
                    // The listener is one of many ready descriptors, and would get only one turn among them.
                    if server.isBusy, server.isToLookForConnections { server.admitConnections() }
                }
            case .ending(let connection): discard(connection)
            }
        }
    }

    private func acceptConnection() {
        switch server.accept() {
        case .connection(let connection):
            // A peer that has not sent anything yet should not occupy a thread.
            switch peek(connection) {
            case .data: serve(connection, isNew: true)
            case .nothing: server.watch(connection)
            case .end: close(connection)
            }
        case .nobody: break
        case .exhausted: Server.pauseForDescriptors()
        }
    }

    private func serve(_ connection: Int32, isNew: Bool) {
        server.requestsInFlight.add(1, ordering: .relaxed)
        let outcome = exchange.run(on: connection, handler)
        server.requestsInFlight.subtract(1, ordering: .relaxed)
        switch outcome {
        case .kept, .ended, .endedEarly: server.requests.add(1, ordering: .relaxed)
        case .aborted, .lost: server.aborted.add(1, ordering: .relaxed)
        }
        switch outcome {
        case .kept where !server.keepsConnections.load(ordering: .relaxed): close(connection)
        case .kept:
            endUnlessSuccessful(connection) { () throws(FastCGIError) in
                try isNew
                    ? server.poller.add(connection: connection) : server.poller.rearm(connection: connection)
            }
        case .ended: close(connection)
        case .endedEarly:
            // If this side closed the connection now, the peer's writes would fail, and it might not read the answer.
            // The peer closes when it has read the answer.
            shutdown(connection, Int32(SHUT_WR))
            endUnlessSuccessful(connection) { () throws(FastCGIError) in
                try isNew
                    ? server.poller.add(ending: connection) : server.poller.rearm(ending: connection)
            }
        case .aborted(let fault):
            close(connection)
            server.options.onFault(fault)
        case .lost:
            server.countClosed()
            server.options.onFault(.unreadableRequest)
        }
    }

    /// Discards bytes that a peer still sends after its early answer, until it closes.
    private func discard(_ connection: Int32) {
        let count = withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 1) { buffer in
            recv(connection, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
        }
        guard count > 0 || (count < 0 && errno == EAGAIN) else { return close(connection) }
        endUnlessSuccessful(connection) { () throws(FastCGIError) in try server.poller.rearm(ending: connection) }
    }

    private enum Peek {
        case data, nothing, end
    }

    private func peek(_ connection: Int32) -> Peek {
        var byte: UInt8 = 0
        return switch recv(connection, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) {
        case 1: .data
        case 0: .end
        default: errno == EAGAIN ? .nothing : .end
        }
    }

    private func close(_ connection: Int32) { server.close(connection) }

    private func endUnlessSuccessful(_ connection: Int32, _ watch: () throws(FastCGIError) -> Void) {
        do { try watch() } catch { close(connection) }
    }
}

extension Server {
    /// Accepts a waiting connection and sets it up.
    func accept() -> ListeningSocket.Accepted {
        let accepted = socket.accept { connections.change { $0 += 1 } }
        if case .connection(let connection) = accepted {
            setTimeout(SO_RCVTIMEO, options.receiveTimeout, connection)
            setTimeout(SO_SNDTIMEO, options.sendTimeout, connection)
        }
        return accepted
    }

    /// Lets a connection wait for its first request without a thread.
    func watch(_ connection: Int32) {
        do { try poller.add(connection: connection) } catch { close(connection) }
    }

    func close(_ connection: Int32) {
        Glibc.close(connection)
        countClosed()
    }

    /// Once for each tick of the kernel's coarse clock, which costs only a few nanoseconds: nearly always nobody waits, and
    /// asking costs as much as a read.
    var isToLookForConnections: Bool {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        let tick = time.tv_sec * 1_000_000_000 + time.tv_nsec
        // Of several workers at once, one looks.
        let last = lastLook.load(ordering: .relaxed)
        return last != tick
            && lastLook.compareExchange(expected: last, desired: tick, ordering: .relaxed).exchanged
    }

    /// Accepts waiting connections, so that they compete on equal terms with the requests of kept connections.
    func admitConnections() {
        while true {
            switch accept() {
            case .connection(let connection): watch(connection)
            case .nobody: return
            case .exhausted:
                Server.pauseForDescriptors()
                return
            }
        }
    }

    /// The listener stays ready, so without a pause a worker would spin until a connection ends.
    static func pauseForDescriptors() { usleep(1000) }

    /// Whether all other workers are serving a request.
    var isBusy: Bool { requestsInFlight.load(ordering: .relaxed) >= options.threads - 1 }

    func countClosed() { connections.change { $0 -= 1 } }
}
