package import Database
import MariaDB
package import Time

/// What the front page of administration shows (accounts §4.7).
package struct Overview: Sendable {
    /// One day, from midnight to midnight in UTC.
    package struct Day: Sendable {
        package let start: Timestamp
        package let counts: [DailyCount: Int]

        package func count(_ name: DailyCount) -> Int { counts[name] ?? 0 }

        /// `2026-05-12`.
        package var date: String { String(start.iso8601.prefix(10)) }
    }

    /// The last 30, the oldest first; the last one is today.
    package let days: [Day]
    /// As they are, or of many as they were counted last.
    package let users: [UserKind: Int]
    package let upkeep: AccountsUpkeep?
    package let applicationsAwaitingApproval: Int
    /// At most `countedRows`; nothing counts the rest.
    package let deadEvents: Int

    package func count(_ kind: UserKind) -> Int { users[kind] ?? 0 }

    /// Since when the next event has been due, in seconds.
    package var oldestDueSeconds: Int { Int(upkeep?.outboxDelay.components.seconds ?? 0) }
    package var openBreakers: Int { upkeep?.openBreakers ?? 0 }
    package var disabledEndpoints: Int { upkeep?.disabledEndpoints ?? 0 }

    package static let dayCount = 30
    /// So many rows a look counts itself for each of its numbers. A number of accounts or of a day that is larger is
    /// as clean-up counted it (`CountDays.swift`).
    package static let countedRows = 10_000
}

/// What is counted per day.
package enum DailyCount: String, Sendable, CaseIterable {
    case newUsers = "new_users"
    case promotions
    case signIns = "sign_ins"
    case refusedSignIns = "refused_sign_ins"
    case swaps
    case merges
    case deadEvents = "dead_events"
}

/// What accounts are. One that was deleted or merged is identified or anonymous, too.
package enum UserKind: String, Sendable, CaseIterable {
    case identified, anonymous, deleted, merged
}

extension Accounts {
    /// Numbers of the last 30 days. Days that are over are read as clean-up counted them; what it has not counted yet is counted
    /// here, but no further than `Overview.countedRows`, so that no look costs more in a large installation.
    package func overview(_ database: Database) throws -> Overview {
        let now = clock.now
        return try database.read { connection in
            let recorded = try connection.dailyCounts(since: now.lastDays[0])
            let days = try now.lastDays.map { day in
                var counts = recorded[day] ?? [:]
                if counts[DayMarker.isOver] == nil {
                    counts = atLeast(try connection.countDay(day, atMost: Overview.countedRows), orRecorded: counts)
                }
                return Overview.Day(start: day, counts: named(counts))
            }
            let isCounted = recorded.filter { $0.value[UserKind.identified.rawValue] != nil }
            let users = atLeast(
                try connection.countUsers(atMost: Overview.countedRows),
                orRecorded: isCounted.max { $0.key < $1.key }?.value ?? [:])
            return Overview(
                days: days, users: named(users), upkeep: try connection.accountsUpkeep(at: now),
                applicationsAwaitingApproval: try connection.applicationsAwaitingApproval(),
                deadEvents: try connection.deadEvents(atMost: Overview.countedRows))
        }
    }

    /// Numbers that reached the limit are not known; what was counted of them earlier is nearer.
    private func atLeast(_ counts: [String: Int], orRecorded recorded: [String: Int]) -> [String: Int] {
        Dictionary(
            uniqueKeysWithValues: counts.map { name, count in
                (name, count < Overview.countedRows ? count : max(count, recorded[name] ?? 0))
            })
    }
}

private func named<Name: RawRepresentable<String> & Hashable>(_ counts: [String: Int]?) -> [Name: Int] {
    let named = (counts ?? [:]).compactMap { name, count in Name(rawValue: name).map { ($0, count) } }
    return Dictionary(uniqueKeysWithValues: named)
}

extension Connection {
    fileprivate func dailyCounts(since first: Timestamp) throws -> [Timestamp: [String: Int]] {
        var days: [Timestamp: [String: Int]] = [:]
        for (day, name, value) in try all(
            "SELECT day, name, value FROM daily_counts WHERE day >= ?", first,
            read: { row in (try row.read(Timestamp.self), try row.read(String.self), try row.read(Int.self)) })
        {
            days[day, default: [:]][name] = value
        }
        return days
    }

    fileprivate func deadEvents(atMost limit: Int) throws -> Int {
        try first(
            "SELECT COUNT(*) FROM (SELECT 1 FROM webhook_outbox WHERE dlq_at IS NOT NULL LIMIT ?) AS dead", limit
        ) { row in try row.read(Int.self) } ?? 0
    }
}
