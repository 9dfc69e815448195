import Analytics
package import Database
package import Time

/// Re-points the rows of merged users to their owners, and then removes the tombstones (analytics §14.1).
///
/// This target owns the work outside requests: compaction, retention, clean-up and recounts of attachments, and the
/// check of the rules that the tables must keep at any moment. Each job is a sequence of short transactions and may run
/// on several nodes at once. If a run is interrupted, the next one continues. The rules that jobs share with requests,
/// such as locking and merging records, are in `Analytics`. `merganserctl` and its timers decide when a job runs.
package struct Compaction: Sendable {
    /// What was done; in a plan, what would be done.
    package struct Report: Equatable, Sendable {
        /// Live anonymous records that were merged into the record that claimed their id.
        package fileprivate(set) var folded = 0
        package fileprivate(set) var repointed: [RecordReference: Int] = [:]
        /// Tombstones that no row names any more: they were removed, or stay only as the names of absorbed accounts.
        package fileprivate(set) var removed = 0

        package init() {}
    }

    /// The most rows that one transaction re-points.
    package static let chunk = 1000

    private let grace: Duration
    private let undoWindow: Duration
    private let clock: Clock

    /// - Parameters:
    ///   - grace: how long a tombstone stays after its claim.
    ///   - undoWindow: how long a merge of two accounts can be undone; zero if none can. As long a tombstone stays in projects whose
    ///     users are the accounts', since the rows that name it say what goes back.
    package init(grace: Duration, undoWindow: Duration = .zero, clock: Clock = .system) {
        self.grace = grace
        self.undoWindow = undoWindow
        self.clock = clock
    }

    /// Runs to completion. Only tombstones within their grace period remain.
    ///
    /// - Parameter step: called after each transaction with the report so far. If it throws, the run ends.
    @discardableResult
    package func run(_ database: Database, step: (Report) throws -> Void = { _ in }) throws -> Report {
        var report = Report()
        try forEachStray(database) { stray in
            if try Analytics.write(database, at: clock, { try $0.fold(stray) }) {
                report.folded += 1
                try step(report)
            }
        }
        // A pass cannot remove a tombstone that another one points at; the next pass can. Repeats as long as a pass
        // removes one.
        var removedBefore: Int
        repeat {
            removedBefore = report.removed
            try forEachDueTombstone(database) { tombstone in
                var chunk: Chunk
                repeat {
                    chunk = try Analytics.write(database, at: clock) { try $0.repoint(tombstone) }
                    report.repointed.merge(chunk.repointed, uniquingKeysWith: +)
                    if chunk.isRemoved { report.removed += 1 }
                    try step(report)
                } while !chunk.isLast
            }
        } while report.removed > removedBefore
        return report
    }

    /// The report that `run` would return now. Changes nothing.
    package func plan(_ database: Database) throws -> Report {
        var report = Report()
        try forEachStray(database) { _ in report.folded += 1 }
        try forEachDueTombstone(database) { tombstone in
            let rows = try database.read { connection in
                try RecordReference.allCases.map { ($0, try connection.count($0, of: tombstone.id)) }
            }
            report.repointed.merge(rows.filter { $0.1 > 0 }, uniquingKeysWith: +)
            report.removed += 1
        }
        return report
    }

    private func forEachStray(_ database: Database, _ body: (Record.ID) throws -> Void) throws {
        var last: Int64 = 0
        while true {
            let page = try database.read { try $0.claimedNames(after: last) }
            for claim in page { if let stray = claim.stray { try body(stray) } }
            guard let end = page.last else { return }
            last = end.id
        }
    }

    private func forEachDueTombstone(_ database: Database, _ body: (Tombstone) throws -> Void) throws {
        let now = clock.now
        let due = Due(mergedUntil: now - grace, inAccountsProjects: now - max(grace, undoWindow))
        var last: Tombstone?
        while true {
            let page = try database.read { try $0.tombstones(due, after: last) }
            for tombstone in page { try body(tombstone) }
            guard let end = page.last else { return }
            last = end
        }
    }
}

struct Tombstone {
    let id: Record.ID
    let owner: Record.ID
    let mergedAt: Timestamp
}

extension Compaction {
    /// Which tombstones are compacted now: those that were merged by these times.
    struct Due {
        let mergedUntil: Timestamp
        let inAccountsProjects: Timestamp
    }

    /// The result of one transaction for one tombstone.
    struct Chunk {
        var repointed: [RecordReference: Int] = [:]
        /// Whether nothing is left to do for the tombstone, or nothing can be done.
        var isLast = false
        var isRemoved = false
    }
}

extension AnalyticsTransaction {
    /// Merges a live anonymous record whose id is claimed, as the claim should have done.
    ///
    /// - Returns: false if there is no such record any more.
    fileprivate func fold(_ stray: Record.ID) throws -> Bool {
        guard let owner = try claimant(ofStray: stray) else { return false }
        let locked = try lockRecords([stray, owner])
        // Read under the locks: the name or the claim may have changed before.
        guard try claimant(ofStray: stray) == owner, let anonymous = locked[stray], let real = locked[owner] else {
            throw TransactionMustRestart()
        }
        try merge(anonymous, into: real)
        return true
    }

    /// Re-points at most `Compaction.chunk` rows of a tombstone, and removes the tombstone when no row names it any
    /// more.
    ///
    /// A transaction that stores a record's id holds the record's lock from before it reads `merged_into` until it
    /// commits, and never stores a tombstone's id (§4.4). So under the tombstone's lock, every row that names it is
    /// visible, and no new one can appear.
    fileprivate func repoint(_ tombstone: Tombstone) throws -> Compaction.Chunk {
        let locked = try lockRecords([tombstone.id, tombstone.owner])
        guard let anonymous = locked[tombstone.id], anonymous.mergedInto == tombstone.owner,
            let real = locked[tombstone.owner], real.mergedInto == nil
        else { return Compaction.Chunk(isLast: true) }
        try uniteApps(of: anonymous.id, into: real.id)
        try addEventCounts(of: anonymous.id, to: real.id)
        try mergeQuestionnaireResponses(of: anonymous, into: real)
        try removeRepeatedClaims(of: anonymous.id, heldBy: real.id)
        var chunk = Compaction.Chunk()
        var room = Compaction.chunk
        for reference in RecordReference.allCases {
            let count = try repoint(reference, of: anonymous.id, to: real.id, atMost: room)
            if count > 0 { chunk.repointed[reference] = count }
            room -= count
            if room == 0 { return chunk }
        }
        try retire(anonymous)
        return Compaction.Chunk(repointed: chunk.repointed, isLast: true, isRemoved: true)
    }
}

/// A column that holds the id of a record, including `app_users.merged_into`. All of them are rewritten before a
/// tombstone is removed. A new column of this kind needs a case here, and a line in `Connection.unnamed` of `Analytics/Undo`.
package enum RecordReference: String, CaseIterable, Sendable {
    case events
    case metricEvents = "metric_events"
    case funnelEvents = "funnel_events"
    case issueOccurrences = "issue_occurrences"
    case feedback
    case attachments = "event_attachments"
    case questionnaireResponses = "questionnaire_responses"
    case apps = "app_user_apps"
    case eventCounts = "app_user_event_counts"
    case claims = "identity_claims"
    case tombstones = "app_users"

    package var table: String { rawValue }
}
