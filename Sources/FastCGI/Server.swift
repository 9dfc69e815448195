// This target owns the way from nginx to a handler and back: the listening socket, the accept loop and its threads,
// connections and their records (parsed by libfcgi), the drain, and the process's dealings with a service manager and with
// signals. It does not know routes, bodies' formats or the database, and it does not log.

internal import CFastCGI
internal import Glibc
package import HTTP
internal import Synchronization
internal import Threads

/// Serves FastCGI requests on worker threads that share one epoll instance.
///
/// Plain `FCGX_Accept_r` on each thread pins a thread to each connection that nginx keeps. Here whichever worker is free
/// takes the next event, a new connection or the next request of a kept one, and serves it at once: no hand-off, no queue.
package final class Server: Sendable {
    package struct Options: Sendable {
        package var threads: Int
        /// How long a peer may pause inside a request. A kept connection may idle for ever.
        package var receiveTimeout = Duration.seconds(10)
        /// And inside taking an answer: longer than nginx waits for its own client, so that nginx is the one to give up.
        package var sendTimeout = Duration.seconds(20)
        /// When a drain stops waiting for nginx to close what it keeps and does not use.
        package var drainLimit = Duration.seconds(30)
        /// Told of every connection that was ended in the middle of a request, on the worker's thread.
        package var onFault: @Sendable (Fault) -> Void = { _ in }

        package init(threads: Int) { self.threads = threads }
    }

    package struct Statistics: Sendable {
        package var openConnections: Int
        package var requestsInFlight: Int
        /// Requests that were answered.
        package var requests: Int
        /// Connections that were ended in the middle of a request.
        package var aborted: Int
    }

    let socket: ListeningSocket
    let options: Options
    let poller: Poller
    /// How many connections are open.
    let connections = Monitor(0)
    let workers = Mutex<[Thread]>([])
    let requestsInFlight = Atomic(0)
    let requests = Atomic(0)
    /// False once a drain has reached its limit: a connection ends with its next answer.
    let keepsConnections = Atomic(true)
    let aborted = Atomic(0)
    private let makeHandler: @Sendable () -> (Request) -> Response

    /// - Parameter makeHandler: called once on each worker thread; what it returns is used by that thread alone.
    package init(
        socket: ListeningSocket, options: Options, makeHandler: @escaping @Sendable () -> (Request) -> Response
    ) throws(FastCGIError) {
        precondition(options.threads > 0, "a server has at least one thread")
        self.socket = socket
        self.options = options
        self.makeHandler = makeHandler
        _ = Server.initializeLibrary
        poller = try Poller()
    }

    private static let initializeLibrary: Void = {
        // FCGX_Init installs handlers for these, without SA_RESTART. The workers never run them, but what else is in the
        // process may count on its own.
        let signals = [SIGPIPE, SIGUSR1, SIGTERM]
        var actions = signals.map { signal in
            var action = sigaction()
            sigaction(signal, nil, &action)
            return action
        }
        precondition(FCGX_Init() == 0, "FCGX_Init")
        for index in signals.indices { sigaction(signals[index], &actions[index], nil) }
    }()

    /// Starts the workers.
    package func start() throws(FastCGIError) {
        try poller.add(listener: socket.watchedDescriptor)
        // A signal inside a read would end it, and libfcgi take truncated parameters for whole ones.
        withSignalsBlocked {
            workers.withLock { workers in
                for _ in 0..<options.threads {
                    workers.append(Thread { [self] in Worker(self, makeHandler()).run() })
                }
            }
        }
    }

    package var statistics: Statistics {
        Statistics(
            openConnections: connections.withLock { $0 }, requestsInFlight: requestsInFlight.load(ordering: .relaxed),
            requests: requests.load(ordering: .relaxed), aborted: aborted.load(ordering: .relaxed))
    }
}
