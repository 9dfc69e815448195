import CMariaDB

/// Only for `Database`, which decides when to repeat a transaction.
extension Connection {
    /// Whether the server's last answer said that a transaction is open.
    package var isInTransaction: Bool { handle.pointee.server_status & UInt32(SERVER_STATUS_IN_TRANS) != 0 }

    /// A round trip of its own, which finds a lost connection before anything was done. Sent in one block with the first read
    /// it would cost more: a block describes the columns of its rows each time, a prepared statement once.
    package func begin() throws(MariaDBError) {
        forgetTransaction()
        try perform("START TRANSACTION")
        isInOwnTransaction = true
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
        } else {
            try perform("COMMIT")
        }
        endOwnTransaction()
    }

    /// Whether a `commit` has failed before COMMIT. Asks the server.
    package var isStillOpen: Bool {
        broken != nil && lost == nil && (try? perform("DO 0")) != nil && isInTransaction
    }

    package func rollback() throws(MariaDBError) {
        try perform("ROLLBACK")
        forgetTransaction()
    }

    private func forgetTransaction() {
        failure = nil
        endOwnTransaction()
    }

    private func endOwnTransaction() {
        waiting = WaitingStatements()
        broken = nil
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
            (waiting, broken) = (WaitingStatements(), nil)
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
    struct WaitingStatements {
        fileprivate private(set) var keys: [StatementKey] = []
        /// Each statement's.
        fileprivate private(set) var arguments: [Arguments] = []

        var count: Int { keys.count }
        var isEmpty: Bool { keys.isEmpty }

        fileprivate mutating func append(_ key: StatementKey, _ arguments: Arguments) {
            if keys.isEmpty {
                // Room for what most transactions send.
                keys.reserveCapacity(8)
                self.arguments.reserveCapacity(8)
            }
            keys.append(key)
            self.arguments.append(arguments)
        }
    }

    /// Runs a statement whose outcome nobody needs later in this transaction: together with those after it, before the next
    /// other statement or with COMMIT. If it fails, that one does.
    ///
    /// Outside a transaction, and on a cluster, it runs at once.
    package func executeLater(_ sql: StaticString, _ arguments: any Bindable...) throws(MariaDBError) {
        try executeLater(.literal(sql), arguments)
    }

    package func executeLater(_ sql: ComposedSQL) throws(MariaDBError) {
        try executeLater(.composed(sql.text), sql.arguments)
    }

    /// Once for each row of arguments. One row waits; several are sent at once, and together (`executeMany`), since a block of
    /// another length is another statement to prepare.
    package func executeLater(_ sql: StaticString, rows: [Arguments]) throws(MariaDBError) {
        if rows.count == 1 {
            try executeLater(.literal(sql), rows[0])
        } else {
            try executeMany(sql, rows)
        }
    }

    private func executeLater(_ key: StatementKey, _ arguments: Arguments) throws(MariaDBError) {
        guard isInOwnTransaction, !isClusterNode else {
            try execute(key, arguments)
            return
        }
        try checkTransaction()
        waiting.append(key, arguments)
    }

    /// Runs the statements that wait, for a transaction that is not going to be committed, or whose next part fails in another way.
    package func runWaitingStatements() throws(MariaDBError) {
        try checkTransaction()
        try runWaiting()
    }

    /// Runs what must have run before the next statement.
    func prepareForStatement() throws(MariaDBError) {
        try checkTransaction()
        try runWaiting()
    }

    private func runWaiting(commits: Bool = false) throws(MariaDBError) {
        guard !waiting.isEmpty else { return }
        let all = waiting
        waiting = WaitingStatements()
        if all.count == 1, !commits {
            do {
                try run(all.keys[0], all.arguments[0]).finish()
            } catch {
                broken = error
                throw error
            }
        } else {
            try runBlock(StatementBlock(statements: all.keys, commits: commits), all.arguments).finish()
        }
    }

    /// Runs a statement with rows, and with it the statements that wait.
    func runWithRows(_ key: StatementKey, _ arguments: Arguments) throws(MariaDBError) -> Statement {
        try checkTransaction()
        guard !waiting.isEmpty else { return try run(key, arguments) }
        var all = waiting
        waiting = WaitingStatements()
        all.append(key, arguments)
        return try runBlock(StatementBlock(statements: all.keys), all.arguments)
    }

    /// After an error it is unknown how far the block came, so nothing else may run in the transaction.
    private func runBlock(
        _ block: StatementBlock, _ arguments: [Arguments]
    ) throws(MariaDBError) -> Statement {
        do {
            return try run(block, arguments)
        } catch {
            broken = error
            throw error
        }
    }
}
