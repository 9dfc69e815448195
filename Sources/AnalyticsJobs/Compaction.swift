import Analytics
package import Database
import MariaDB
package import Time

/// Carries merges through to the last row, so that tombstones can go (analytics §14.1).
///
/// This target owns what is done beside the requests: compaction, retention, what is left of attachments, and the check of
/// what must hold of the tables at any moment. Each job is a sequence of short transactions, may run on several nodes at
/// once, and goes on where another run ended, however that was. The rules it shares with requests, such as how records are
/// locked and merged, are those of `Analytics`; when a job runs is for `merganserctl` and its timers to say.
package struct Compaction: Sendable {
    /// What was done; in a plan, what would be.
    package struct Report: Equatable, Sendable {
        /// Live anonymous records that were merged into the record of whoever claimed their id.
        package fileprivate(set) var folded = 0
        package fileprivate(set) var repointed: [RecordReference: Int] = [:]
        /// Tombstones that nothing names any more.
        package fileprivate(set) var removed = 0

        package init() {}
    }

    /// The most rows that one transaction re-points.
    package static let chunk = 1000

    private let grace: Duration
    private let clock: Clock

    /// - Parameter grace: how long a tombstone stays after its claim.
    package init(grace: Duration, clock: Clock = .system) {
        self.grace = grace
        self.clock = clock
    }

    /// Runs to completion: what is left are tombstones within their grace period.
    ///
    /// - Parameter step: called after each transaction with what was done so far; what it throws ends the run.
    @discardableResult
    package func run(_ database: Database, step: (Report) throws -> Void = { _ in }) throws -> Report {
        var report = Report()
        try forEachStray(database) { stray in
            if try Analytics.write(database, at: clock, { try $0.fold(stray) }) {
                report.folded += 1
                try step(report)
            }
        }
        // One pass leaves only a tombstone that another one pointed at; the next takes it, as long as there is progress.
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

    /// What `run` would do now; nothing is changed.
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
        let due = clock.now - grace
        var last = Tombstone(id: Record.ID(rawValue: 0), owner: Record.ID(rawValue: 0))
        while true {
            let page = try database.read { try $0.tombstones(mergedUntil: due, after: last) }
            for tombstone in page { try body(tombstone) }
            guard let end = page.last else { return }
            last = end
        }
    }
}

struct Tombstone {
    let id: Record.ID
    let owner: Record.ID
}

extension Compaction {
    /// What one transaction did for one tombstone.
    struct Chunk {
        var repointed: [RecordReference: Int] = [:]
        /// Nothing is left to do, or nothing can be done.
        var isLast = false
        var isRemoved = false
    }
}

extension AnalyticsTransaction {
    /// Merges a live anonymous record whose id is claimed, as the claim would have done.
    ///
    /// - Returns: false when there is no such record any more.
    fileprivate func fold(_ stray: Record.ID) throws -> Bool {
        guard let owner = try claimant(ofStray: stray) else { return false }
        let locked = try lockRecords([stray, owner])
        // Only now: the name or the claim may have changed before the locks were taken.
        guard try claimant(ofStray: stray) == owner, let anonymous = locked[stray], let real = locked[owner] else {
            throw TransactionMustRestart()
        }
        try freezeDeleted(of: anonymous)
        try merge(anonymous, into: real)
        return true
    }

    /// Re-points at most `Compaction.chunk` rows of a tombstone, and removes it when nothing names it any more.
    ///
    /// Whoever stores a record's id holds the record's lock from before it reads `merged_into` until it commits, and stores
    /// no tombstone's (§4.4). So under the tombstone's lock every row that names it is there to be found, and there will
    /// be no other.
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
        try removeTombstone(anonymous.id)
        return Compaction.Chunk(repointed: chunk.repointed, isLast: true, isRemoved: true)
    }
}

/// A column that holds the id of a record, `app_users.merged_into` included: what must be rewritten before a tombstone can
/// go. A table that gets such a column gets a case here.
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
