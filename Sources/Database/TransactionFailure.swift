package import MariaDB

/// Why a transaction has no result, although its closure may have succeeded.
package enum TransactionFailure: Error, Sendable {
    /// Every attempt failed, the last one with this error; nothing was changed.
    case exhausted(MariaDBError)
    /// The answer to COMMIT was lost: either everything was committed, or nothing. The transaction is not repeated. To
    /// find out, look for the rows that it would have written.
    case outcomeUnknown(MariaDBError)
    /// No connection could be made, or it was lost twice. A transaction changed nothing; a statement in autocommit mode may have.
    case unreachable(MariaDBError)
}
