package import MariaDB

/// Why a transaction has no result although its closure might have had one.
package enum TransactionFailure: Error, Sendable {
    /// Every attempt failed, the last with this error; nothing was changed.
    case exhausted(MariaDBError)
    /// The answer to COMMIT was lost: everything was kept, or nothing. Not repeated; look for what it would have left.
    case outcomeUnknown(MariaDBError)
    /// There is no connection to be had; nothing was changed.
    case unreachable(MariaDBError)
}
