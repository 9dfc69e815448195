import CMariaDB

/// Only for `Database`, which decides when to repeat a transaction.
extension Connection {
    /// Whether the server's last answer said that a transaction is open, or it will be with the next statement.
    package var isInTransaction: Bool {
        isStartDue || handle.pointee.server_status & UInt32(SERVER_STATUS_IN_TRANS) != 0
    }

    /// Takes no round trip: the transaction starts with its first statement. On a cluster it starts here, since a node may
    /// refuse to start one.
    package func begin() throws(MariaDBError) {
        forgetTransaction()
        isStartDue = true
        isInOwnTransaction = true
        guard isClusterNode else { return }
        do {
            try start()
        } catch {
            endOwnTransaction()
            throw error
        }
    }

    /// All reads from now on see the data of this instant; writes are refused.
    package func beginSnapshot() throws(MariaDBError) {
        forgetTransaction()
        try perform("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        try perform("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
        isInOwnTransaction = true
    }

    /// Runs the statements that wait, and COMMIT with them. See `isStillOpen`.
    ///
    /// Must not be called after a `failure`: after a deadlock the server answers OK, although nothing was committed.
    package func commit() throws(MariaDBError) {
        precondition(failure == nil)
        if let broken { throw broken }
        if !waiting.isEmpty {
            try runWaiting(commits: true)
        } else if !isStartDue {
            try perform("COMMIT")
        }
        endOwnTransaction()
    }

    /// Whether a `commit` has failed before COMMIT. Asks the server.
    package var isStillOpen: Bool {
        broken != nil && lost == nil && (try? perform("DO 0")) != nil && isInTransaction
    }

    package func rollback() throws(MariaDBError) {
        if !isStartDue { try perform("ROLLBACK") }
        forgetTransaction()
    }

    private func forgetTransaction() {
        failure = nil
        wasLostAtStart = false
        endOwnTransaction()
    }

    private func endOwnTransaction() {
        waiting = []
        broken = nil
        isStartDue = false
        isInOwnTransaction = false
    }

    /// Runs a part of a transaction. If it throws, what it wrote is rolled back, and its locks are kept.
    package func savepoint<T>(_ part: () throws -> T) throws -> T {
        try mark("SAVEPOINT part")
        let result: T
        do {
            result = try part()
            try runWaiting()
        } catch {
            (waiting, broken) = ([], nil)
            // After a `failure` the whole transaction is rolled back anyway.
            if failure == nil { try mark("ROLLBACK TO SAVEPOINT part") }
            throw error
        }
        try mark("RELEASE SAVEPOINT part")
        return result
    }

    private func mark(_ sql: String) throws(MariaDBError) {
        try prepareForStatement()
        try checkClusterAbort(sql)
        do {
            try perform(sql)
        } catch  where isClusterNode && error.code == 1305 {
            // The savepoint went with the transaction.
            throw note(.clusterAbort(sql: sql))
        }
        try checkClusterAbort(sql)
    }
}

/// Fewer round trips: statements that are sent together with others.
extension Connection {
    struct WaitingStatement {
        let key: StatementKey
        let arguments: [(any Bindable)?]
    }

    /// Runs a statement whose outcome nobody needs later in this transaction: together with those after it, before the next
    /// other statement or with COMMIT. If it fails, that one does.
    ///
    /// Outside a transaction, and on a cluster, it runs at once.
    package func executeLater(_ sql: StaticString, _ arguments: (any Bindable)?...) throws(MariaDBError) {
        try executeLater(.literal(sql), arguments)
    }

    package func executeLater(_ sql: ComposedSQL) throws(MariaDBError) {
        try executeLater(.composed(sql.text), sql.arguments)
    }

    /// Once for each row of arguments. One row waits; several are sent at once, and together (`executeMany`), since a block of
    /// another length is another statement to prepare.
    package func executeLater(_ sql: StaticString, rows: [[(any Bindable)?]]) throws(MariaDBError) {
        if rows.count == 1 {
            try executeLater(.literal(sql), rows[0])
        } else {
            try executeMany(sql, rows)
        }
    }

    private func executeLater(_ key: StatementKey, _ arguments: [(any Bindable)?]) throws(MariaDBError) {
        guard isInOwnTransaction, !isClusterNode else {
            try execute(key, arguments)
            return
        }
        try checkTransaction()
        // Here, so that a connection that was lost long ago is not found out by COMMIT.
        try start()
        waiting.append(WaitingStatement(key: key, arguments: arguments))
    }

    /// Runs the statements that wait, for a transaction that is not going to be committed.
    package func runWaitingStatements() throws(MariaDBError) {
        try checkTransaction()
        try runWaiting()
    }

    /// Runs what must have run before the next statement.
    func prepareForStatement() throws(MariaDBError) {
        try checkTransaction()
        try start()
        try runWaiting()
    }

    /// Starts a transaction that is due.
    private func start() throws(MariaDBError) {
        guard isStartDue else { return }
        isStartDue = false
        do {
            try perform("START TRANSACTION")
        } catch {
            broken = error
            wasLostAtStart = lost != nil
            throw error
        }
    }

    private func runWaiting(commits: Bool = false) throws(MariaDBError) {
        guard !waiting.isEmpty else { return }
        let all = waiting
        waiting = []
        if all.count == 1, !commits {
            do {
                try run(all[0].key, all[0].arguments).finish()
            } catch {
                broken = error
                throw error
            }
        } else {
            let block = StatementBlock(statements: all.map(\.key), commits: commits)
            try runBlock(block, all.flatMap(\.arguments)).finish()
        }
    }

    /// Runs a statement with rows, and with it the start of the transaction or the statements that wait.
    func runWithRows(_ key: StatementKey, _ arguments: [(any Bindable)?]) throws(MariaDBError) -> Statement {
        try checkTransaction()
        guard isStartDue || !waiting.isEmpty else { return try run(key, arguments) }
        let block = StatementBlock(starts: isStartDue, statements: waiting.map(\.key) + [key])
        let all = waiting.flatMap(\.arguments) + arguments
        (waiting, isStartDue) = ([], false)
        do {
            return try runBlock(block, all)
        } catch {
            wasLostAtStart = block.starts && lost != nil
            throw error
        }
    }

    /// After an error it is unknown how far the block came, so nothing else may run in the transaction.
    private func runBlock(
        _ block: StatementBlock, _ arguments: [(any Bindable)?]
    ) throws(MariaDBError) -> Statement {
        do {
            return try run(.block(block), arguments)
        } catch {
            broken = error
            throw error
        }
    }
}
