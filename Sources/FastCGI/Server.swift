internal import CFastCGI
internal import Glibc
package import HTTP
internal import Synchronization
internal import Threads

/// Serves FastCGI requests on worker threads that share one epoll instance.
///
/// Plain `FCGX_Accept_r` on each thread pins a thread to each connection nginx keeps. Here whichever worker is free takes
/// the next event, a new connection or the next request of a kept one, and serves it at once: no hand-off, no queue.
package final class Server: Sendable {
    package struct Options: Sendable {
        package var threads: Int
        /// How long a peer may pause inside a request, and inside taking an answer. A kept connection may idle for ever.
        package var receiveTimeout = Duration.seconds(10)
        package var sendTimeout = Duration.seconds(10)
        /// When a drain stops waiting for nginx to close what it keeps.
        package var drainLimit = Duration.seconds(30)

        package init(threads: Int) { self.threads = threads }
    }

    package struct Statistics: Sendable {
        package var openConnections: Int
        package var requestsInFlight: Int
        package var requests: Int
        /// Connections that ended in the middle of a request, or sent what is no FastCGI.
        package var aborted: Int
    }

    package struct DrainResult: Sendable {
        /// Requests since the start.
        package var requests: Int
        /// Connections that were still open at the limit.
        package var cut: Int
    }

    private let socket: ListeningSocket
    private let options: Options
    private let makeHandler: @Sendable () -> (Request) -> Response
    private let epoll: Int32
    /// Readable for ever once the workers are to leave.
    private let stop: Int32
    private let threads = Mutex<[Thread]>([])
    private let openConnections = Atomic(0)
    private let requestsInFlight = Atomic(0)
    private let requests = Atomic(0)
    private let aborted = Atomic(0)

    /// - Parameter makeHandler: called once on each worker thread; what it returns is used by that thread alone.
    package init(
        socket: ListeningSocket, options: Options, makeHandler: @escaping @Sendable () -> (Request) -> Response
    ) throws(FastCGIError) {
        self.socket = socket
        self.options = options
        self.makeHandler = makeHandler
        _ = Server.initializeLibrary
        epoll = try check(epoll_create1(Int32(EPOLL_CLOEXEC)), "epoll_create1")
        stop = try check(eventfd(0, Int32(EFD_CLOEXEC)), "eventfd")
    }

    deinit {
        close(epoll)
        close(stop)
    }

    private static let initializeLibrary: Void = {
        // FCGX_Init installs handlers for SIGPIPE, SIGUSR1 and SIGTERM; threads that block all signals never run them.
        precondition(FCGX_Init() == 0, "FCGX_Init")
    }()

    /// Starts the workers. Signals must be blocked before, so that no worker is interrupted inside a read: libfcgi would
    /// take the truncated parameters for whole.
    package func start() throws(FastCGIError) {
        try watch(stop, events: EPOLLIN.rawValue, EPOLL_CTL_ADD)
        try watch(socket.descriptor, events: EPOLLIN.rawValue | EPOLLEXCLUSIVE.rawValue, EPOLL_CTL_ADD)
        threads.withLock { threads in
            for _ in 0..<options.threads { threads.append(Thread { self.work() }) }
        }
    }

    package var statistics: Statistics {
        Statistics(
            openConnections: openConnections.load(ordering: .relaxed),
            requestsInFlight: requestsInFlight.load(ordering: .relaxed), requests: requests.load(ordering: .relaxed),
            aborted: aborted.load(ordering: .relaxed))
    }

    // MARK: Workers

    private func work() {
        let handler = makeHandler()
        let exchange = Exchange()
        var event = epoll_event()
        while true {
            // EINTR cannot happen: signals are blocked.
            guard epoll_wait(epoll, &event, 1, -1) == 1 else { continue }
            switch event.data.fd {
            case stop: return
            case socket.descriptor: acceptConnection(exchange, handler)
            case let connection: serve(connection, isNew: false, exchange, handler)
            }
        }
    }

    private func acceptConnection(_ exchange: Exchange, _ handler: (Request) -> Response) {
        // Another worker, or another process, may have been faster.
        let connection = accept4(socket.descriptor, nil, nil, Int32(SOCK_CLOEXEC.rawValue))
        guard connection >= 0 else { return waitForDescriptors() }
        openConnections.add(1, ordering: .relaxed)
        setTimeout(SO_RCVTIMEO, options.receiveTimeout, connection)
        setTimeout(SO_SNDTIMEO, options.sendTimeout, connection)
        // A peer that says nothing yet is not worth a thread.
        if isReadable(connection, within: 0) {
            serve(connection, isNew: true, exchange, handler)
        } else {
            keep(connection, isNew: true)
        }
    }

    /// Out of descriptors, the listener stays ready: without a pause the worker would spin until one is closed.
    private func waitForDescriptors() {
        if errno == EMFILE || errno == ENFILE { usleep(10_000) }
    }

    private func serve(_ connection: Int32, isNew: Bool, _ exchange: Exchange, _ handler: (Request) -> Response) {
        if !isNew, isClosedByPeer(connection) {
            close(connection)
            openConnections.subtract(1, ordering: .relaxed)
            return
        }
        requestsInFlight.add(1, ordering: .relaxed)
        switch exchange.run(on: connection, handler) {
        case .kept:
            requests.add(1, ordering: .relaxed)
            keep(connection, isNew: isNew)
        case .closed:
            requests.add(1, ordering: .relaxed)
            openConnections.subtract(1, ordering: .relaxed)
        case .aborted:
            aborted.add(1, ordering: .relaxed)
            openConnections.subtract(1, ordering: .relaxed)
        }
        requestsInFlight.subtract(1, ordering: .relaxed)
    }

    /// Waits for the next request on a connection without a thread. Once: whichever worker gets it has it alone.
    private func keep(_ connection: Int32, isNew: Bool) {
        do {
            try watch(
                connection, events: EPOLLIN.rawValue | EPOLLONESHOT.rawValue, isNew ? EPOLL_CTL_ADD : EPOLL_CTL_MOD)
        } catch {
            close(connection)
            openConnections.subtract(1, ordering: .relaxed)
        }
    }

    private func isClosedByPeer(_ connection: Int32) -> Bool {
        var byte: UInt8 = 0
        return recv(connection, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) == 0
    }

    private func watch(_ descriptor: Int32, events: UInt32, _ operation: Int32) throws(FastCGIError) {
        var event = epoll_event()
        event.events = events
        event.data.fd = descriptor
        try check(epoll_ctl(epoll, operation, descriptor, &event), "epoll_ctl")
    }

    private func setTimeout(_ option: Int32, _ timeout: Duration, _ connection: Int32) {
        let (seconds, attoseconds) = timeout.components
        var time = timeval(tv_sec: Int(seconds), tv_usec: Int(attoseconds / 1_000_000_000_000))
        setsockopt(connection, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
    }

    // MARK: Drain

    /// Hands over and leaves with nothing lost: takes what still waits in a listener of our own, serves kept connections
    /// until nginx closes them, then ends the workers. Closing a kept connection from this side could lose a POST that is
    /// on its way, so that happens only at the limit.
    package func drain() -> DrainResult {
        let deadline = ContinuousClock.now + options.drainLimit
        if socket.isShared {
            // The others go on taking from it.
            epoll_ctl(epoll, EPOLL_CTL_DEL, socket.descriptor, nil)
        } else {
            socket.withdraw()
            waitUntilQueueIsEmpty(until: deadline)
            // Closing it, when the last reference goes, resets whoever is queued; by now nobody can be.
            epoll_ctl(epoll, EPOLL_CTL_DEL, socket.descriptor, nil)
        }
        while openConnections.load(ordering: .relaxed) > 0, ContinuousClock.now < deadline { usleep(5_000) }
        let cut = openConnections.load(ordering: .relaxed)
        eventfd_write(stop, 1)
        let workers = threads.withLock { threads in
            defer { threads = [] }
            return threads
        }
        // One in the middle of a request finishes it first; at the limit the process is about to end anyway.
        for worker in workers {
            if cut == 0 { worker.join() } else { worker.detach() }
        }
        return DrainResult(requests: requests.load(ordering: .relaxed), cut: cut)
    }

    /// Connections that were under way when the path changed hands still come in here for a moment.
    private func waitUntilQueueIsEmpty(until deadline: ContinuousClock.Instant) {
        var quietSince = ContinuousClock.now
        while ContinuousClock.now - quietSince < .milliseconds(200), ContinuousClock.now < deadline {
            if socket.hasWaitingConnection { quietSince = .now }
            usleep(5_000)
        }
    }
}
