package import Analytics
package import Database
import MariaDB
package import Time

/// Deletes what is older than its project keeps it, and makes the months to come (analytics §14.2). One event table.
///
/// A horizon is moved forward to the end of a partition only, in a transaction that waits for every writer of older events;
/// from its commit on the rows before it are dead and no other will come. It is moved back only in a transaction that sees
/// that neither a partition nor a counter before it is left, so no dead row comes to life. A partition once found before
/// the horizon can therefore be dropped at any time by anybody: the horizon stays behind it until it is gone, and its name
/// does not come again.
package struct Retention {
    /// What was done; in a plan, what would be.
    package struct Report: Equatable, Sendable {
        package let table: EventTable
        package fileprivate(set) var monthsMade: [Month] = []
        /// Where rows begin to be live.
        package fileprivate(set) var horizon: Timestamp
        /// The names of partitions.
        package fileprivate(set) var dropped: [String] = []
        /// Counter rows of months before the horizon.
        package fileprivate(set) var countersDeleted = 0
        package fileprivate(set) var rowsDeleted = 0
    }

    /// The most rows that one transaction deletes.
    package static let chunk = 1000
    /// How many months after this one always have a partition.
    package static let monthsAhead = 3
    /// How many before it have one from the beginning; rows that are older share the first.
    private static let monthsBack = 24

    private let table: EventTable
    private let clock: Clock
    private let say: (String) -> Void

    /// - Parameter say: gets a line about what takes time.
    package init(of table: EventTable, clock: Clock = .system, say: @escaping (String) -> Void = { _ in }) {
        self.table = table
        self.clock = clock
        self.say = say
    }

    /// Makes partitions until `Retention.monthsAhead` months from now; with a table that has none, from the oldest month
    /// that is kept. Needs the account that owns the tables.
    @discardableResult
    package func makeMonths(_ database: Database) throws -> [Month] {
        let missing = try missingMonths(database)
        if missing.isEmpty { return [] }
        say("\(table.name): making \(missing[0]) to \(missing[missing.count - 1])")
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
    /// - Parameter step: called after each transaction with what was done so far; what it throws ends the run.
    @discardableResult
    package func run(_ database: Database, step: (Report) throws -> Void = { _ in }) throws -> Report {
        var report = Report(table: table, horizon: try database.read { try $0.horizon(of: table) })
        report.monthsMade = try makeMonths(database)
        // What an earlier run began comes first: only then the horizon may move back.
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

    /// What `run` would do now; nothing is changed.
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

    /// - Returns: false when another node was faster, and the partition is made or dropped already.
    private func alter(_ sql: String, _ database: Database) throws -> Bool {
        do {
            try persistently(say) { _ = try database.read { try $0.query(sql) } }
            return true
        } catch let error as MariaDBError where [1493, 1507, 1517].contains(error.code) {
            return false
        }
    }
}

extension AnalyticsTransaction {
    /// - Returns: where the horizon is now.
    fileprivate func moveHorizon(of table: EventTable) throws -> Timestamp {
        let horizon = try lockHorizon(of: table)
        let partitions = try connection.partitions(of: table)
        let oldest = now.days(before: try connection.longestRetention(of: table))
        let target = horizon.moved(to: oldest, past: partitions)
        if target < horizon {
            // Not before everything behind it is gone, or dead rows would come to life.
            guard partitions.ended(by: horizon).isEmpty else { return horizon }
            if table == .events, try connection.countCounters(before: horizon) > 0 { return horizon }
        }
        if target != horizon { try setHorizon(of: table, to: target) }
        return target
    }

    /// Counter rows of months before the horizon, which stays where it is meanwhile.
    ///
    /// - Returns: how many; fewer than `Retention.chunk`: none is left.
    fileprivate func deleteDeadCounters() throws -> Int {
        let dead = try connection.counters(before: try lockEventHorizon())
        try deleteCounters(dead)
        return dead.count
    }

    /// Rows that are older than their project keeps them. With events their counters go in the same transaction, under
    /// the locks of the records that they count for (analytics §4.4, §4.5).
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
            // Only now nobody else gives the rows to another record.
            var counts: [EventCounter: Int] = [:]
            for row in try eventsStillThere(old) {
                guard let record = row.record else { continue }
                if let counter = EventCounter(owner: owners[record], timestamp: row.timestamp) {
                    counts[counter, default: 0] += 1
                } else if !records.contains(record) {
                    throw TransactionMustRestart()
                }
                // Else it names nobody, which is damage that `verify` reports.
            }
            try subtract(from: counts)
        }
        return (try delete(old, from: table), old.count < Retention.chunk)
    }

    /// The records that rows of some records count for, by those; all of both are locked.
    private func lockResolvedOwners(of records: Set<Record.ID>) throws -> [Record.ID: Record.ID] {
        let seen = try connection.owners(of: records)
        let locked = try lockRecords(records.union(seen))
        return try locked.filter { records.contains($0.key) }.mapValues { record in
            guard let owner = record.mergedInto else { return record.id }
            // Merged since it was read.
            guard locked[owner] != nil else { throw TransactionMustRestart() }
            return owner
        }
    }
}

extension Timestamp {
    fileprivate func days(before count: Int) -> Timestamp { self - .seconds(count * 86_400) }

    /// Where a horizon goes when nothing older than a moment is kept: forward to the end of a partition, back to the start
    /// of a month.
    fileprivate func moved(to oldest: Timestamp, past partitions: [Partition]) -> Timestamp {
        if let end = partitions.ended(by: oldest).compactMap(\.end).max(), end > self { return end }
        return min(self, Month(containing: oldest).start)
    }
}

extension [Partition] {
    /// Those that hold nothing but rows from before a moment.
    fileprivate func ended(by moment: Timestamp) -> [Partition] {
        filter { partition in partition.end.map { $0 <= moment } ?? false }
    }
}
