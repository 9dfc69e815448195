import MariaDB

/// Thrown inside a transaction when what it decided by changed before it held the locks: it runs again from the start.
package struct TransactionMustRestart: Error {
    package init() {}

    var cause: MariaDBError { MariaDBError("what the transaction decided by changed before its locks were taken") }
}
