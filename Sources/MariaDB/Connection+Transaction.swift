import CMariaDB

/// Only for `Database`, which decides when to repeat a transaction.
extension Connection {
    /// Whether the server's last answer said that a transaction is open.
    package var isInTransaction: Bool { handle.pointee.server_status & UInt32(SERVER_STATUS_IN_TRANS) != 0 }

    package func begin() throws(MariaDBError) {
        failure = nil
        try perform("START TRANSACTION")
        isInOwnTransaction = true
    }

    /// All reads from now on see the data of this instant; writes are refused.
    package func beginSnapshot() throws(MariaDBError) {
        failure = nil
        try perform("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        try perform("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
        isInOwnTransaction = true
    }

    /// Must not be called after a `failure`: after a deadlock the server answers OK, although nothing was committed.
    package func commit() throws(MariaDBError) {
        precondition(failure == nil)
        try perform("COMMIT")
        isInOwnTransaction = false
    }

    package func rollback() throws(MariaDBError) {
        try perform("ROLLBACK")
        failure = nil
        isInOwnTransaction = false
    }

    /// Runs a part of a transaction. If it throws, what it wrote is rolled back, and its locks are kept.
    package func savepoint<T>(_ part: () throws -> T) throws -> T {
        try mark("SAVEPOINT part")
        let result: T
        do {
            result = try part()
        } catch {
            // After a `failure` the whole transaction is rolled back anyway.
            if failure == nil { try mark("ROLLBACK TO SAVEPOINT part") }
            throw error
        }
        try mark("RELEASE SAVEPOINT part")
        return result
    }

    private func mark(_ sql: String) throws(MariaDBError) {
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
