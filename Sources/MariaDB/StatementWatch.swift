import Glibc

/// Times the statements of a connection, or of the one that replaces it, and tells of slow ones.
///
/// It reads the kernel's coarse clock, which advances with its ticks, every 1 to 10 ms, and costs a few nanoseconds, so
/// that every statement can be timed. One time is as exact as that; sums are right on average.
package final class StatementWatch {
    /// Whom the statements are for, in whoever's words: a request's id.
    package var origin: String?
    /// Since the last `reset`.
    package private(set) var statements = 0
    package private(set) var elapsed = Duration.zero

    private let threshold: Duration?
    private let report: (SlowStatement) -> Void

    /// - Parameters:
    ///   - threshold: from which duration on a statement is slow; nil: none is.
    ///   - report: called on the thread that ran the statement, before it goes on.
    package init(threshold: Duration? = nil, report: @escaping (SlowStatement) -> Void = { _ in }) {
        self.threshold = threshold
        self.report = report
    }

    package func reset() {
        statements = 0
        elapsed = .zero
    }

    /// On no calendar.
    static var now: Duration {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    func note(
        since start: Duration, on connection: Connection, _ sql: @autoclosure () -> String,
        rows: @autoclosure () -> Int = 0, error: MariaDBError? = nil
    ) {
        let time = Self.now - start
        statements += 1
        elapsed += time
        guard let threshold, time >= threshold else { return }
        report(
            SlowStatement(
                sql: sql(), elapsed: time, rows: rows(), errorCode: error?.code, connection: connection.threadID,
                origin: origin))
    }
}
