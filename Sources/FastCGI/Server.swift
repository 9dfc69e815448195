// This target owns the way from nginx to a handler and back: the listening socket, the accept loop and its threads,
// connections and their records (which libfcgi parses), the drain, and how the process talks to a service manager and
// handles signals. It does not know routes, formats of bodies or the database, and it does not log.

internal import CFastCGI
internal import Glibc
package import HTTP
internal import Synchronization
internal import Threads

/// Serves FastCGI requests on worker threads that share one epoll instance.
///
/// If each thread called plain `FCGX_Accept_r`, every connection that nginx keeps would occupy a thread. Here any free
/// worker takes the next event, which is a new connection or the next request of a kept one, and serves it at once.
/// There is no hand-off and no queue.
package final class Server: Sendable {
    package struct Options: Sendable {
        package var threads: Int
        /// How long a peer may pause within a request. A kept connection may be idle without limit.
        package var receiveTimeout = Duration.seconds(10)
        /// How long a peer may pause while it reads an answer: longer than nginx waits for its own client, so that
        /// nginx gives up first.
        package var sendTimeout = Duration.seconds(20)
        /// How long a drain waits for nginx to close idle connections.
        package var drainLimit = Duration.seconds(30)
        /// Called on the worker's thread for every connection that was ended in the middle of a request.
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
    /// False once a drain has reached its limit; then a connection ends with its next answer.
    let keepsConnections = Atomic(true)
    let aborted = Atomic(0)
    /// When a busy worker last looked for new connections.
    let lastLook = Atomic(0)
    private let makeHandler: @Sendable () -> (Request) -> Response

    /// - Parameter makeHandler: called once on each worker thread, which alone uses the handler that it returns.
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
        // FCGX_Init installs handlers for these signals, without SA_RESTART. The workers never run the handlers, but
        // other code in the process may rely on handlers of its own.
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
        // A signal would interrupt a read, and libfcgi would take truncated parameters for complete ones.
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
