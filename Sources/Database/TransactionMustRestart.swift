import MariaDB

/// Thrown inside a transaction if rows that it based its decision on changed before it held their locks. The
/// transaction then runs again from the start.
package struct TransactionMustRestart: Error {
    package init() {}

    var cause: MariaDBError { MariaDBError("rows that the transaction depends on changed before it locked them") }
}
