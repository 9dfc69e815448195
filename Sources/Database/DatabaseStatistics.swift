import MariaDB
import Synchronization

/// Counts for all connections of the process since its start. The `Database`s of all threads share it.
package final class DatabaseStatistics: Sendable {
    package struct Counter: ~Copyable, Sendable {
        private let count = Atomic(0)

        package var value: Int { count.load(ordering: .relaxed) }

        func add(_ number: Int) { count.add(number, ordering: .relaxed) }
    }

    /// Calls of `transaction`, whatever their result.
    package let transactions = Counter()
    /// Attempts after the first.
    package let retries = Counter()
    /// Attempts that ended with 1213.
    package let deadlocks = Counter()
    /// Attempts that ended with 1205.
    package let lockTimeouts = Counter()
    /// Transactions given up after the last attempt.
    package let exhaustions = Counter()
    /// Transactions whose COMMIT got no answer.
    package let unknownOutcomes = Counter()
    /// Connections that were given up because they were lost or in an unknown state.
    package let reconnects = Counter()
    /// How many connections are open; a gauge.
    package let openConnections = Counter()
    /// Statements that were answered or failed, including those of transactions.
    package let statements = Counter()
    /// The time that they took, by `StatementWatch`'s clock.
    package let statementMicroseconds = Counter()
    /// Statements that `SlowLog` got.
    package let slowStatements = Counter()

    package init() {}

    /// Adds the counts of a watch since the last call.
    func add(_ watch: StatementWatch) {
        statements.add(watch.statements)
        if watch.nanoseconds > 0 { statementMicroseconds.add(watch.nanoseconds / 1000) }
        watch.reset()
    }

    func count(_ failure: MariaDBError) {
        switch failure.code {
        case 1213: deadlocks.add(1)
        case 1205: lockTimeouts.add(1)
        default: break
        }
    }
}
