import Glibc

/// Measures the time of a connection's statements, and reports slow ones. It also serves the connection's replacement.
///
/// It reads the kernel's coarse clock, which costs only a few nanoseconds, so that every statement can be measured.
/// That clock advances every 1 to 10 ms. A single time is only that exact; sums are right on average.
///
/// Like a connection's, its properties are not checked for overlapping accesses: no access calls anything.
package final class StatementWatch {
    /// On whose behalf the statements run: a text that the caller sets, such as a request's id.
    @exclusivity(unchecked) package var origin: String?
    /// Counted since the last `reset`.
    @exclusivity(unchecked) package private(set) var statements = 0
    @exclusivity(unchecked) package private(set) var nanoseconds = 0

    /// In nanoseconds, like all times here, because a `Duration` would cost as much as reading the clock.
    private let threshold: Int?
    private let report: (SlowStatement) -> Void

    /// - Parameters:
    ///   - threshold: a statement that takes this long is slow; nil: no statement is.
    ///   - report: called on the thread that ran the statement, before the thread continues.
    package init(threshold: Duration? = nil, report: @escaping (SlowStatement) -> Void = { _ in }) {
        self.threshold = threshold.map { Int($0 / .nanoseconds(1)) }
        self.report = report
    }

    package func reset() {
        statements = 0
        nanoseconds = 0
    }

    /// The time since some moment in the past.
    static var now: Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    func note(
        since start: Int, on connection: Connection, _ sql: @autoclosure () -> String,
        rows: @autoclosure () -> Int = 0, error: MariaDBError? = nil
    ) {
        let time = Self.now - start
        statements += 1
        nanoseconds += time
        guard let threshold, time >= threshold else { return }
        report(
            SlowStatement(
                sql: sql(), elapsed: .nanoseconds(time), rows: rows(), errorCode: error?.code,
                connection: connection.threadID,
                origin: origin))
    }
}

/// A statement that took long, for the log: its text with placeholders, never an argument.
package struct SlowStatement: Sendable {
    package let sql: String
    /// From the call to the last row, preparing included.
    package let elapsed: Duration
    /// Found, or changed.
    package let rows: Int
    /// Of the `MariaDBError` it ended with.
    package let errorCode: Int?
    /// The server's id of the connection: in its process list, its slow log and what it prints about a deadlock.
    package let connection: Int
    /// What the statement was for: `StatementWatch.origin`.
    package let origin: String?
}
