/// A statement that took long, for the log: its text with placeholders, never an argument.
package struct SlowStatement: Sendable {
    package let sql: String
    /// From the call to the last row, preparing included.
    package let elapsed: Duration
    /// Found, or changed.
    package let rows: Int
    /// Of the `MariaDBError` it ended with.
    package let errorCode: Int?
    /// The server's id of the connection: in its process list, its slow log and what it prints about a deadlock.
    package let connection: Int
    /// What the statement was for: `StatementWatch.origin`.
    package let origin: String?
}
