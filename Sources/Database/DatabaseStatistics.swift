import MariaDB
import Synchronization

/// What happened on all connections of the process since it started; shared by the `Database` of every thread.
package final class DatabaseStatistics: Sendable {
    package struct Counter: ~Copyable, Sendable {
        private let count = Atomic(0)

        package var value: Int { count.load(ordering: .relaxed) }

        func add(_ number: Int) { count.add(number, ordering: .relaxed) }
    }

    /// Calls of `transaction`, whatever became of them.
    package let transactions = Counter()
    /// Attempts after the first.
    package let retries = Counter()
    /// Attempts that ended with 1213.
    package let deadlocks = Counter()
    /// Attempts that ended with 1205.
    package let lockTimeouts = Counter()
    /// Transactions given up after the last attempt.
    package let exhaustions = Counter()
    /// Transactions whose COMMIT was not answered.
    package let unknownOutcomes = Counter()
    /// Connections given up because they were lost or in doubt.
    package let reconnects = Counter()
    /// A gauge.
    package let openConnections = Counter()
    /// Statements that were answered or failed, those of transactions included.
    package let statements = Counter()
    /// What they took, on `StatementWatch`'s clock.
    package let statementMicroseconds = Counter()
    /// Those that `SlowLog` was told of.
    package let slowStatements = Counter()

    package init() {}

    /// Adds what a watch has seen since the last time.
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
