package import MariaDB

/// Thrown inside a transaction if rows that it based its decision on changed before it held their locks. The
/// transaction then runs again from the start.
package struct TransactionMustRestart: Error {
    let cause: MariaDBError

    package init() { cause = MariaDBError("rows that the transaction depends on changed before it locked them") }

    /// - Parameter cause: what another request's row caused.
    package init(because cause: MariaDBError) { self.cause = cause }
}
