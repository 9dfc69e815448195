package import Analytics
package import Database
import MariaDB
package import Time

/// Deletes events that are older than their project's retention, and creates partitions for future months (analytics
/// §14.2). One value works on one event table.
///
/// Rows before the horizon are dead: no read shows them, and no new ones are stored. The horizon moves forward only to
/// the end of a partition, in a transaction that waits for every writer of older events. It moves back only in a
/// transaction that sees neither a partition nor a counter before it, so no dead row comes back to life. So once a
/// partition is before the horizon, anybody may drop it at any time: the horizon does not move back before the
/// partition is gone, and its name is not used again.
package struct Retention {
    /// What was done; in a plan, what would be done.
    package struct Report: Equatable, Sendable {
        package let table: EventTable
        package fileprivate(set) var monthsMade: [Month] = []
        /// Rows before this time are dead.
        package fileprivate(set) var horizon: Timestamp
        /// The names of dropped partitions.
        package fileprivate(set) var dropped: [String] = []
        /// Counters of months before the horizon.
        package fileprivate(set) var countersDeleted = 0
        package fileprivate(set) var rowsDeleted = 0
    }

    /// The most rows that one transaction deletes.
    package static let chunk = 1000
    /// How many months after the present one always have a partition.
    package static let monthsAhead = 3
    /// How many past months have a partition at first. Older rows share the first partition.
    private static let monthsBack = 24

    private let table: EventTable
    private let clock: Clock
    private let say: (String) -> Void

    /// - Parameter say: called with a line about each step that takes long.
    package init(of table: EventTable, clock: Clock = .system, say: @escaping (String) -> Void = { _ in }) {
        self.table = table
        self.clock = clock
        self.say = say
    }

    /// Creates partitions up to `Retention.monthsAhead` months from now. If the table has none yet, they start with the
    /// oldest month that is kept. Needs the account that owns the tables.
    @discardableResult
    package func makeMonths(_ database: Database) throws -> [Month] {
        let missing = try missingMonths(database)
        if missing.isEmpty { return [] }
        say("\(table.name): creating \(missing[0]) to \(missing[missing.count - 1])")
        let definitions = missing.map(Partition.definition).joined(separator: ", ")
        let isMade = try alter(
            """
            ALTER TABLE \(table.name) REORGANIZE PARTITION \(Partition.last)
            INTO (\(definitions), PARTITION \(Partition.last) VALUES LESS THAN (MAXVALUE))
            """, database)
        return isMade ? missing : []
    }

    /// Runs to completion. Needs the account that owns the tables.
    ///
    /// - Parameter step: called after each transaction with the report so far. If it throws, the run ends.
    @discardableResult
    package func run(_ database: Database, step: (Report) throws -> Void = { _ in }) throws -> Report {
        var report = Report(table: table, horizon: try database.read { try $0.horizon(of: table) })
        report.monthsMade = try makeMonths(database)
        // Finishes an earlier run first: the horizon may move back only after that.
        try dropDead(&report, database, step)
        let horizon = try Analytics.write(database, at: clock) { try $0.moveHorizon(of: table) }
        if horizon != report.horizon {
            report.horizon = horizon
            try step(report)
            try dropDead(&report, database, step)
        }
        for (app, days) in try database.read({ try $0.retentionDays(of: table) }) {
            let cutoff = clock.now.days(before: days ?? table.defaultRetentionDays)
            var chunk: (deleted: Int, isLast: Bool)
            repeat {
                chunk = try Analytics.write(database, at: clock) {
                    try $0.deleteRows(of: table, app: app, before: cutoff)
                }
                report.rowsDeleted += chunk.deleted
                if chunk.deleted > 0 { try step(report) }
            } while !chunk.isLast
        }
        return report
    }

    /// The report that `run` would return now. Changes nothing.
    package func plan(_ database: Database) throws -> Report {
        let missing = try missingMonths(database)
        return try database.read { connection in
            var report = Report(table: table, horizon: try connection.horizon(of: table))
            report.monthsMade = missing
            let partitions = try connection.partitions(of: table)
            let oldest = clock.now.days(before: try connection.longestRetention(of: table))
            report.horizon = report.horizon.moved(to: oldest, past: partitions)
            report.dropped = partitions.ended(by: report.horizon).map(\.name)
            if table == .events { report.countersDeleted = try connection.countCounters(before: report.horizon) }
            for (app, days) in try connection.retentionDays(of: table) {
                let cutoff = clock.now.days(before: days ?? table.defaultRetentionDays)
                report.rowsDeleted += try connection.countRows(of: table, app: app, from: report.horizon, to: cutoff)
            }
            return report
        }
    }

    private func missingMonths(_ database: Database) throws -> [Month] {
        try database.read { connection in
            let ends = try connection.partitions(of: table).compactMap(\.end)
            let last = Month(containing: clock.now) + Retention.monthsAhead
            if let end = ends.max() { return Month(containing: end).through(last) }
            let oldest = clock.now.days(before: try connection.longestRetention(of: table))
            return max(Month(containing: oldest), Month(containing: clock.now) + -Retention.monthsBack).through(last)
        }
    }

    private func dropDead(
        _ report: inout Report, _ database: Database, _ step: (Report) throws -> Void
    ) throws {
        for partition in try database.read({ try $0.partitions(of: table) }).ended(by: report.horizon) {
            say("\(table.name): dropping \(partition.name)")
            guard try alter("ALTER TABLE \(table.name) DROP PARTITION \(partition.name)", database) else { continue }
            report.dropped.append(partition.name)
            try step(report)
        }
        guard table == .events else { return }
        var count: Int
        repeat {
            count = try Analytics.write(database, at: clock) { try $0.deleteDeadCounters() }
            report.countersDeleted += count
            if count > 0 { try step(report) }
        } while count == Retention.chunk
    }

    /// - Returns: false if another node was faster, and the partition exists or is dropped already.
    private func alter(_ sql: String, _ database: Database) throws -> Bool {
        do {
            try persistently(say) { _ = try database.autocommit { try $0.query(sql) } }
            return true
        } catch let error as MariaDBError where [1493, 1507, 1517].contains(error.code) {
            return false
        }
    }
}

extension AnalyticsTransaction {
    /// - Returns: the horizon afterwards.
    fileprivate func moveHorizon(of table: EventTable) throws -> Timestamp {
        let horizon = try lockHorizon(of: table)
        let partitions = try connection.partitions(of: table)
        let oldest = now.days(before: try connection.longestRetention(of: table))
        let target = horizon.moved(to: oldest, past: partitions)
        if target < horizon {
            // Not before all partitions and counters before the horizon are gone, or dead rows would come back to life.
            guard partitions.ended(by: horizon).isEmpty else { return horizon }
            if table == .events, try connection.countCounters(before: horizon) > 0 { return horizon }
        }
        if target != horizon { try setHorizon(of: table, to: target) }
        return target
    }

    /// Deletes counters of months before the horizon, which is locked meanwhile.
    ///
    /// - Returns: how many were deleted. If fewer than `Retention.chunk`, none is left.
    fileprivate func deleteDeadCounters() throws -> Int {
        let dead = try connection.counters(before: try lockEventHorizon())
        try deleteCounters(dead)
        return dead.count
    }

    /// Deletes rows that are older than their project's retention. The counters of events change in the same
    /// transaction, under the locks of the records that they count for (analytics §4.4, §4.5).
    ///
    /// - Returns: how many were deleted, and whether none is left.
    fileprivate func deleteRows(
        of table: EventTable, app: App.ID, before cutoff: Timestamp
    ) throws -> (deleted: Int, isLast: Bool) {
        let old = try connection.oldestRows(of: table, app: app, before: cutoff)
        if old.isEmpty { return (0, true) }
        if table == .events {
            let records = Set(old.compactMap(\.record))
            let owners = try lockResolvedOwners(of: records)
            // Read under the locks: no other transaction can give the rows to another record now.
            var counts: [EventCounter: Int] = [:]
            for row in try eventsStillThere(old) {
                guard let record = row.record else { continue }
                if let counter = EventCounter(owner: owners[record], timestamp: row.timestamp) {
                    counts[counter, default: 0] += 1
                } else if !records.contains(record) {
                    throw TransactionMustRestart()
                }
                // Otherwise no record has this id. That is damage, which `verify` reports.
            }
            try subtract(from: counts)
        }
        return (try delete(old, from: table), old.count < Retention.chunk)
    }

    /// The owner of each of these records. Owners and records are locked.
    private func lockResolvedOwners(of records: Set<Record.ID>) throws -> [Record.ID: Record.ID] {
        let seen = try connection.owners(of: records)
        let locked = try lockRecords(records.union(seen))
        return try locked.filter { records.contains($0.key) }.mapValues { record in
            guard let owner = record.mergedInto else { return record.id }
            // The record was merged after it was read.
            guard locked[owner] != nil else { throw TransactionMustRestart() }
            return owner
        }
    }
}

extension Timestamp {
    fileprivate func days(before count: Int) -> Timestamp { self - .seconds(count * 86_400) }

    /// Where the horizon moves if nothing before `oldest` is kept: forward to the end of a partition, or back to the
    /// start of a month.
    fileprivate func moved(to oldest: Timestamp, past partitions: [Partition]) -> Timestamp {
        if let end = partitions.ended(by: oldest).compactMap(\.end).max(), end > self { return end }
        return min(self, Month(containing: oldest).start)
    }
}

extension [Partition] {
    /// The partitions that have only rows from before a moment.
    fileprivate func ended(by moment: Timestamp) -> [Partition] {
        filter { partition in partition.end.map { $0 <= moment } ?? false }
    }
}
