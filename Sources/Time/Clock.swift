import Glibc

/// The source of "now". Rules never ask the system for the time; they get a clock, so that tests can set it.
package struct Clock: Sendable {
    private let read: @Sendable () -> Timestamp

    package init(_ read: @escaping @Sendable () -> Timestamp) { self.read = read }

    package var now: Timestamp { read() }

    /// The system's real-time clock.
    package static let system = Clock {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }
}
