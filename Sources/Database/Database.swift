import Glibc
package import MariaDB

/// The connection of one worker thread, which is opened on first use and replaced when it is lost, and the rules for
/// repeating work on it.
///
/// This target owns transactions, retries and their statistics. It does not own connections (`MariaDB` does) or SQL.
/// Each thread has its own `Database`; it is not `Sendable`.
package final class Database {
    private let options: Connection.Options
    private let statistics: DatabaseStatistics
    private let slowLog: SlowLog?
    private let watch: StatementWatch
    private var current: Connection?
    private var isBusy = false
    /// How long work for this origin has waited for other nodes.
    private var waited = Duration.zero

    /// - Parameter slowLog: gets slow statements and transactions.
    package init(
        _ options: Connection.Options, statistics: DatabaseStatistics = DatabaseStatistics(), slowLog: SlowLog? = nil
    ) {
        self.options = options
        self.statistics = statistics
        self.slowLog = slowLog
        watch = StatementWatch(threshold: slowLog?.threshold) { statement in
            statistics.slowStatements.add(1)
            slowLog?.note(statement)
        }
    }

    /// On whose behalf work is done from now on, for `SlowLog`: a request's id.
    package var origin: String? {
        get { watch.origin }
        set {
            watch.origin = newValue
            waited = .zero
        }
    }

    deinit {
        if current != nil { statistics.openConnections.add(-1) }
    }

    /// One or more reads in autocommit mode. If the connection is lost, they run once more on a new one. On a cluster they run
    /// again if a definition on any node ends them (1213). So the closure may run several times.
    ///
    /// Throws the closure's error, or `TransactionFailure.unreachable`.
    package func read<T>(_ body: (Connection) throws -> T) throws -> T {
        try exclusively { try repeatedIfInterrupted(body) }
    }

    /// Waits until the node of a cluster that this thread is connected to has applied everything that had been committed
    /// on any node when this was called (`Connection.catchUp`). The time counts towards the patience of the transactions
    /// of this origin. On a single server it does nothing.
    ///
    /// Whoever refuses a request, or does it once more, because a row is missing must have caught up: the row may have
    /// been committed, and its client told so, on a node that is a moment ahead. Nobody else needs this: two transactions
    /// that write the same row or the same unique key meet at COMMIT.
    ///
    /// - Parameter isNeeded: asked on a cluster only.
    /// - Returns: whether it has waited.
    @discardableResult
    package func catchUp(if isNeeded: @autoclosure () -> Bool = true) throws -> Bool {
        let start = ContinuousClock.now
        defer { waited += ContinuousClock.now - start }
        return try read { connection in
            guard connection.isClusterNode, isNeeded() else { return false }
            try connection.catchUp()
            return true
        }
    }

    /// A read that may miss what another node has committed. On a cluster it runs again, when the node has caught up, before
    /// it says so. What is found costs nothing more.
    ///
    /// - Parameter isMissing: whether the closure's value or error means that something is not there.
    package func find<T>(
        isMissing: (Result<T, any Error>) -> Bool, _ body: (Connection) throws -> T
    ) throws -> T {
        let found = Result { try read(body) }
        guard isMissing(found), try catchUp() else { return try found.get() }
        return try read(body)
    }

    /// The same for a read that returns nil if something is not there.
    package func find<T>(_ body: (Connection) throws -> T?) throws -> T? {
        try find(isMissing: { if case .success(nil) = $0 { true } else { false } }, body)
    }

    /// One statement that writes, in autocommit mode, outside of any transaction: a note of use, or DDL. It is repeated as a
    /// `read` is, and once more if the server has opened a table without its triggers (`UnreadTriggers`) or has prepared the
    /// statement without one (1146). So running it several times must do no harm.
    ///
    /// Throws as `read` does.
    package func autocommit<T>(_ body: (Connection) throws -> T) throws -> T {
        do {
            return try read(body)
        } catch let error as MariaDBError where error.isTriggerFault {
            try read { connection in try UnreadTriggers.forget(after: error, on: connection) }
            return try read(body)
        }
    }

    /// Reads that all see one instant: `START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY` at REPEATABLE READ,
    /// always rolled back. The closure may run several times, as in `read`.
    package func snapshot<T>(_ body: (Connection) throws -> T) throws -> T {
        try exclusively {
            try repeatedIfInterrupted { connection in
                // Also if it cannot begin, when its isolation level would wait for the next transaction.
                defer { rollback(connection) }
                try connection.beginSnapshot()
                return try body(connection)
            }
        }
    }

    /// Writes, all or none, at READ COMMITTED. Runs COMMIT after the closure, and ROLLBACK if it throws.
    ///
    /// **The closure may run several times**, each time from the start and perhaps on another connection, so it must
    /// have no effects outside the database. It runs again after a deadlock (1213), a lock wait time-out (1205), 1020,
    /// 1047, 1180 and a lost connection, even if it ignored that error or threw another one because of it: nothing may
    /// be committed after such an error. It also runs again after a duplicate entry (1062) that it throws, if the index
    /// is one of `policy.racyKeys`, on a cluster after a foreign key's error (1451, 1452) that it throws, and if the server
    /// has opened a table without its triggers (`UnreadTriggers`) or has prepared a statement without one (1146).
    ///
    /// Throws the closure's error, or a `TransactionFailure`.
    @discardableResult
    package func transaction<T>(_ policy: RetryPolicy = .standard, _ body: (Connection) throws -> T) throws -> T {
        try exclusively {
            statistics.transactions.add(1)
            let start = ContinuousClock.now
            var (attempt, missing) = (1, 0)
            var isCommitted = false
            defer {
                slowLog?.noteTransaction(
                    ContinuousClock.now - start, attempts: attempt, isCommitted: isCommitted, for: origin)
            }
            while true {
                let failure: MariaDBError
                switch try self.attempt(policy, body) {
                case .committed(let value):
                    isCommitted = true
                    return value
                case .rolledBack(let error): failure = error
                }
                statistics.count(failure)
                if failure.isUnforeseenTrigger {
                    missing += 1
                    // The table is really missing.
                    guard missing < Self.mostMissing else { throw failure }
                }
                let delay = policy.delay(after: attempt, because: failure)
                let attempts = policy.attempts(onCluster: current?.isClusterNode ?? false)
                guard attempt < attempts, waited + (ContinuousClock.now - start) + delay < policy.patience else {
                    statistics.exhaustions.add(1)
                    throw TransactionFailure.exhausted(failure)
                }
                usleep(UInt32(delay / .microseconds(1)))
                statistics.retries.add(1)
                attempt += 1
            }
        }
    }

    /// A release makes a few triggers one after the other, and each may end an attempt.
    private static let mostMissing = 5

    private enum Attempt<T> {
        case committed(T)
        /// Nothing was committed, and repeating the transaction may succeed.
        case rolledBack(MariaDBError)
    }

    private func attempt<T>(_ policy: RetryPolicy, _ body: (Connection) throws -> T) throws -> Attempt<T> {
        let connection: Connection
        do {
            connection = try repeatedIfInterrupted { connection in
                try connection.begin()
                return connection
            }
        } catch let error as MariaDBError where error.isTransient {
            return .rolledBack(error)
        }
        let value: T
        do {
            value = try body(connection)
        } catch {
            return try rollback(connection, because: error, policy)
        }
        if let failure = connection.failure {
            rollback(connection)
            return .rolledBack(failure)
        }
        // The closure has ignored it.
        if let broken = connection.broken { return try rollback(connection, because: broken, policy) }
        guard connection.isInTransaction else {
            rollback(connection)
            throw MariaDBError("the transaction was ended by a statement of its own closure: DDL, COMMIT or ROLLBACK")
        }
        do {
            try connection.commit()
        } catch  where connection.isStillOpen {
            return try rollback(connection, because: error, policy)
        } catch let error where error.isRefusedCommit {
            rollback(connection)
            return .rolledBack(error)
        } catch {
            // The server, or the rest of its cluster, may have committed before the answer was lost. Any other error than
            // those above leaves the same doubt.
            disconnect()
            statistics.unknownOutcomes.add(1)
            throw TransactionFailure.outcomeUnknown(error)
        }
        return .committed(value)
    }

    /// - Returns: if the transaction may succeed when it is repeated; otherwise throws the error.
    private func rollback<T>(
        _ connection: Connection, because error: any Error, _ policy: RetryPolicy
    ) throws -> Attempt<T> {
        let failure =
            connection.failure ?? policy.racyDuplicate(error) ?? (error as? TransactionMustRestart)?.cause
            ?? orphan(error, connection) ?? triggerFault(error)
        rollback(connection)
        guard let failure else { throw error }
        // If this fails, the next attempt comes here again.
        try? UnreadTriggers.forget(after: failure, on: connection)
        return .rolledBack(failure)
    }

    /// On a cluster, the error of a row that another node's commit has left without the row that it refers to.
    private func orphan(_ error: any Error, _ connection: Connection) -> MariaDBError? {
        guard connection.isClusterNode, let error = error as? MariaDBError, error.isBrokenReference else { return nil }
        return error
    }

    private func triggerFault(_ error: any Error) -> MariaDBError? {
        guard let error = error as? MariaDBError, error.isTriggerFault else { return nil }
        return error
    }

    /// If a transaction cannot be rolled back, the server rolls it back when the connection closes.
    private func rollback(_ connection: Connection) {
        guard connection.lost == nil else { return }
        do { try connection.rollback() } catch { disconnect() }
    }

    /// A release changes a few tables one after the other, and each change may end a read.
    private static let mostAborts = 5

    /// Runs the closure once more if the connection is lost, and again each time a definition ends it on a cluster.
    private func repeatedIfInterrupted<T>(_ body: (Connection) throws -> T) throws -> T {
        var (wasLost, aborts) = (false, 0)
        while true {
            let connection = try connect()
            do {
                return try body(connection)
            } catch {
                if let lost = connection.lost {
                    guard !wasLost else { throw TransactionFailure.unreachable(lost) }
                    wasLost = true
                } else {
                    let isAborted = connection.isClusterNode && (error as? MariaDBError)?.code == 1213
                    guard isAborted, aborts < Self.mostAborts else { throw error }
                    aborts += 1
                }
            }
        }
    }

    private func connect() throws(TransactionFailure) -> Connection {
        if let current, current.lost == nil { return current }
        disconnect()
        do {
            let connection = try Connection(options)
            statistics.openConnections.add(1)
            connection.watch = watch
            current = connection
            return connection
        } catch {
            throw .unreachable(error)
        }
    }

    private func disconnect() {
        guard current != nil else { return }
        current = nil
        statistics.openConnections.add(-1)
        statistics.reconnects.add(1)
    }

    private func exclusively<T>(_ work: () throws -> T) throws -> T {
        guard !isBusy else {
            throw MariaDBError("this Database already runs a closure: pass its Connection on instead of nesting")
        }
        isBusy = true
        defer {
            isBusy = false
            statistics.add(watch)
        }
        return try work()
    }
}
