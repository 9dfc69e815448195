import JSON
import MariaDB
import Time

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
    /// Takes a merge or swap back (accounts Stage 6).
    ///
    /// All rows of the accounts are compared with the journal under the locks of both users, before any is written; then
    /// `records` does the same with its own. What was made since stays with the survivor.
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
        let connection = transaction.connection
        guard let named = try connection.journal(of: merge) else { throw try connection.obstacle(to: merge) }
        let users = try transaction.lock(changer, and: [named.survivor, named.absorbed])
        guard let journal = try transaction.lockJournal(named.id) else { throw Failure.undoNotPossible(.windowOver) }
        try check(journal, users, in: transaction)
        guard let contents = try transaction.contents(of: journal, .accounts, serverKey) else {
            throw Failure.undoNotPossible(.noJournal)
        }
        var undo = MergeUndo(journal, try JournalContents(json: contents, of: journal), in: transaction, serverKey)
        try undo.compare(survivor: users[journal.survivor])
        let mayWrite = keepingChanged || undo.conflicts.isEmpty
        if mayWrite { try undo.write(by: changer.actor) }
        if let contents = try transaction.contents(of: journal, .records, serverKey) {
            undo.conflicts += try records(contents)
        }
        if !keepingChanged, !undo.conflicts.isEmpty { throw Failure.undoConflict(undo.conflicts) }
        if try undo.leavesSomebodyOut() { throw Failure.undoNotPossible(.lastIdentity) }
        try transaction.end(journal)
        return try undo.finish(by: changer.actor)
    }

    /// - Throws: `undoNotPossible`.
    private func check(
        _ journal: MergeJournal, _ users: [User.ID: User], in transaction: AccountsTransaction
    ) throws {
        func refuse(_ obstacle: UndoObstacle) throws -> Never { throw Failure.undoNotPossible(obstacle) }
        if journal.undoneAt != nil { try refuse(.alreadyUndone) }
        let end = settings.undoWindow.map { min(journal.expiresAt, journal.createdAt + $0) }
        guard let end, transaction.now < end else { try refuse(.windowOver) }
        for user in [users[journal.survivor], users[journal.absorbed]] where user?.deletedAt != nil {
            try refuse(.accountDeleted)
        }
        if users[journal.survivor] == nil || journal.link != nil && users[journal.absorbed] == nil {
            try refuse(.accountDeleted)
        }
        if try transaction.connection.hasLaterMerge(than: journal) { try refuse(.laterMerge) }
    }
}
