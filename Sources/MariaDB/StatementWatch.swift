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
    package private(set) var nanoseconds = 0

    /// In nanoseconds, as all times here: `Duration` would cost as much as the clock again.
    private let threshold: Int?
    private let report: (SlowStatement) -> Void

    /// - Parameters:
    ///   - threshold: from which duration on a statement is slow; nil: none is.
    ///   - report: called on the thread that ran the statement, before it goes on.
    package init(threshold: Duration? = nil, report: @escaping (SlowStatement) -> Void = { _ in }) {
        self.threshold = threshold.map { Int($0 / .nanoseconds(1)) }
        self.report = report
    }

    package func reset() {
        statements = 0
        nanoseconds = 0
    }

    /// Since some moment of the past.
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
