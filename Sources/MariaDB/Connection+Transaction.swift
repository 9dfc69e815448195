import CMariaDB

/// For `Database` only, which knows when to repeat and when not.
extension Connection {
    /// Whether the server's last answer said that a transaction is open.
    package var isInTransaction: Bool { handle.pointee.server_status & UInt32(SERVER_STATUS_IN_TRANS) != 0 }

    package func begin() throws(MariaDBError) {
        failure = nil
        try perform("START TRANSACTION")
    }

    /// Everything read from now on is of this instant; nothing can be written.
    package func beginSnapshot() throws(MariaDBError) {
        failure = nil
        try perform("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        try perform("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
    }

    /// Must not be called after a `failure`: after a deadlock the server answers OK although nothing was kept.
    package func commit() throws(MariaDBError) {
        precondition(failure == nil)
        try perform("COMMIT")
    }

    package func rollback() throws(MariaDBError) {
        try perform("ROLLBACK")
        failure = nil
    }
}
