internal import CFastCGI
internal import Glibc

/// The epoll instance that all workers of a server wait on.
///
/// Idle connections exist only here: each costs a descriptor and nothing else.
final class Poller: Sendable {
    enum Source {
        case stop
        case listener
        case connection(Int32)
        /// A connection whose last answer was sent; the peer has not closed it yet.
        case ending(Int32)
    }

    struct Event {
        var source: Source
        /// The peer has closed, but there may still be bytes to read.
        var isHangup: Bool
    }

    private let epoll: Int32
    /// Readable from the moment on at which the workers are to stop.
    private let stop: Int32

    private enum Tag: UInt64 {
        case stop, listener, connection, ending
    }

    init() throws(FastCGIError) {
        epoll = try check(epoll_create1(Int32(EPOLL_CLOEXEC)), "epoll_create1")
        stop = eventfd(0, Int32(EFD_CLOEXEC))
        try check(stop, "eventfd")
        try control(EPOLL_CTL_ADD, stop, .stop, EPOLLIN.rawValue)
    }

    deinit {
        close(epoll)
        close(stop)
    }

    /// Waits for one event only, so that another worker can get the next one.
    ///
    /// - Returns: nil if the time is over or the wait was interrupted.
    func wait(milliseconds: Int32) -> Event? {
        var event = epoll_event()
        guard epoll_wait(epoll, &event, 1, milliseconds) == 1, let tag = Tag(rawValue: event.data.u64 >> 32) else {
            return nil
        }
        let descriptor = Int32(truncatingIfNeeded: event.data.u64)
        let source: Source =
            switch tag {
            case .stop: .stop
            case .listener: .listener
            case .connection: .connection(descriptor)
            case .ending: .ending(descriptor)
            }
        return Event(source: source, isHangup: event.events & (EPOLLRDHUP.rawValue | EPOLLERR.rawValue) != 0)
    }

    /// From now on, every worker gets `.stop`.
    func stopAll() { eventfd_write(stop, 1) }

    /// For each connection, the kernel wakes one of the instances that share the listener.
    func add(listener: Int32) throws(FastCGIError) {
        try control(EPOLL_CTL_ADD, listener, .listener, EPOLLIN.rawValue | EPOLLEXCLUSIVE.rawValue)
    }

    func remove(listener: Int32) { epoll_ctl(epoll, EPOLL_CTL_DEL, listener, nil) }

    // Connections are watched for one event at a time, so the worker that gets the event has the connection to itself.

    func add(connection: Int32) throws(FastCGIError) {
        try control(EPOLL_CTL_ADD, connection, .connection, Poller.once)
    }

    func rearm(connection: Int32) throws(FastCGIError) {
        try control(EPOLL_CTL_MOD, connection, .connection, Poller.once)
    }

    func add(ending connection: Int32) throws(FastCGIError) {
        try control(EPOLL_CTL_ADD, connection, .ending, Poller.once)
    }

    func rearm(ending connection: Int32) throws(FastCGIError) {
        try control(EPOLL_CTL_MOD, connection, .ending, Poller.once)
    }

    private static let once = EPOLLIN.rawValue | EPOLLRDHUP.rawValue | EPOLLONESHOT.rawValue

    private func control(_ operation: Int32, _ descriptor: Int32, _ tag: Tag, _ events: UInt32) throws(FastCGIError) {
        var event = epoll_event()
        event.events = events
        event.data.u64 = tag.rawValue << 32 | UInt64(UInt32(bitPattern: descriptor))
        try check(epoll_ctl(epoll, operation, descriptor, &event), "epoll_ctl")
    }
}
