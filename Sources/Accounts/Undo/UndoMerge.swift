import MariaDB

/// What stands between a merge and its undo: a row that is no longer as the merge left it.
package struct UndoConflict: Equatable, Sendable {
    package enum Reason: String, Sendable {
        /// The row is gone.
        case missing
        /// It belongs to somebody else, or leads elsewhere.
        case moved
        /// It has other values.
        case changed
        /// A row was deleted, and something else has its unique key now.
        case taken
    }

    package let table: String
    /// The row's primary key, its parts separated by spaces; for a value of a row, with the column.
    package let key: String
    package let reason: Reason

    package init(table: String, key: String, reason: Reason) {
        self.table = table
        self.key = key
        self.reason = reason
    }
}

/// Why a merge or swap can never be taken back, or not now.
package enum UndoObstacle: String, Sendable {
    case alreadyUndone = "already_undone"
    /// `undo_days` are over.
    case windowOver = "window_over"
    /// The merge was made with `undo_days` 0, or before there were journals.
    case noJournal = "no_journal"
    /// A later merge of one of the accounts must be undone first.
    case laterMerge = "later_merge"
    /// One of the accounts is deleted.
    case accountDeleted = "account_deleted"
    /// An identified account would have no way to sign in.
    case lastIdentity = "last_identity"
}

/// What an undo did.
package struct UndoneMerge: Sendable {
    package var journal: MergeJournal
    /// Rows that went back or returned.
    package var restored: Int
    /// What did not go back, because it was changed meanwhile.
    package var kept: [UndoConflict]
    /// Subs of relying parties that are the absorbed account's again.
    package var unlinkedSubs: [String]
}

extension Accounts {
    /// Takes a merge or swap back.
    ///
    /// - Parameters:
    ///   - keepingChanged: whether rows that were changed since stay as they are; otherwise any of them refuses the undo.
    ///   - records: takes back what the merge did outside the accounts, of which it gets the journal, and returns what stands in
    ///     its way.
    /// - Throws: `notFound`, `undoNotPossible`, `undoConflict`.
    package func undo(
        _ merge: MergeID, keepingChanged: Bool, by changer: Operator, in transaction: AccountsTransaction,
        records: ([UInt8]) throws -> [UndoConflict]
    ) throws -> UndoneMerge {
        throw Failure.undoNotPossible(.noJournal)
    }
}
