package import Database
import MariaDB
package import Time

/// A row of `daily_counts` that says that its day was counted after it was over.
enum DayMarker {
    static let isOver = "is_over"
}

extension Accounts {
    /// Counts the days and the users that the front page of administration shows, so that no look at it has to (accounts §4.7):
    /// each day once it is over, today as far as it has come, users once a day.
    ///
    /// - Returns: how many days were counted.
    package static func countDays(_ database: Database, at clock: Clock = .system, from origin: Origin) throws -> Int {
        let now = clock.now
        let over = try database.read { try $0.daysCounted(since: now.lastDays[0], as: DayMarker.isOver) }
        var days = 0
        for day in now.lastDays where !over.contains(day) {
            var counts = try database.read { try $0.countDay(day, atMost: nil) }
            if day < now.startOfDay { counts[DayMarker.isOver] = 1 }
            try keep(counts, of: day, database, clock, origin)
            days += 1
        }
        let isCounted = try database.read {
            try $0.daysCounted(since: now.startOfDay, as: UserKind.identified.rawValue)
        }
        if isCounted.isEmpty { try keep(countUsers(database), of: now.startOfDay, database, clock, origin) }
        return days
    }

    private static func keep(
        _ counts: [String: Int], of day: Timestamp, _ database: Database, _ clock: Clock, _ origin: Origin
    ) throws {
        try write(database, at: clock, from: origin) { transaction in
            _ = try transaction.connection.executeMany(
                """
                INSERT INTO daily_counts (day, name, value) VALUES (?, ?, ?) ON DUPLICATE KEY UPDATE value = VALUES(value)
                """, counts.sorted { $0.key < $1.key }
            ) { [day, $0.key, $0.value] }
        }
    }

    private static func countUsers(_ database: Database) throws -> [String: Int] {
        var counts: [UserKind: Int] = [:]
        func add(_ kinds: [UserKind], of batch: StaticString) throws {
            var last: Int64? = 0
            while let after = last {
                last = try database.read { connection in
                    try connection.first(batch, after) { row in
                        for kind in kinds { counts[kind, default: 0] += try row.read(Int.self) }
                        return try row.read(Int64?.self)
                    } ?? nil
                }
            }
        }
        // A batch at a time, so that no statement reads all users.
        try add(
            [.identified, .anonymous, .deleted],
            of: """
                SELECT COUNT(IF(anonymous, NULL, 1)), COUNT(IF(anonymous, 1, NULL)), COUNT(purge_at), MAX(id)
                FROM (SELECT id, anonymous, purge_at FROM users WHERE id > ? ORDER BY id LIMIT 10000) AS batch
                """)
        try add(
            [.merged],
            of: """
                SELECT COUNT(*), MAX(id)
                FROM (SELECT id FROM identity_links WHERE id > ? ORDER BY id LIMIT 10000) AS batch
                """)
        return Dictionary(uniqueKeysWithValues: counts.map { ($0.rawValue, $1) })
    }
}

extension Timestamp {
    /// Midnight in UTC.
    var startOfDay: Timestamp { self - .milliseconds(milliseconds % 86_400_000) }

    /// The beginnings of the days that the overview has, the oldest first.
    var lastDays: [Timestamp] {
        (0..<Overview.dayCount).reversed().map { startOfDay - .seconds(Int64($0) * 86_400) }
    }
}

extension Connection {
    fileprivate func daysCounted(since first: Timestamp, as name: String) throws -> Set<Timestamp> {
        Set(
            try all("SELECT day FROM daily_counts WHERE day >= ? AND name = ?", first, name) { row in
                try row.read(Timestamp.self)
            })
    }

    /// Rows of the audit log are counted between the first ids of two days, so that one index has both the action and the
    /// day.
    ///
    /// - Parameter limit: of each number; nil: none.
    func countDay(_ start: Timestamp, atMost limit: Int?) throws -> [String: Int] {
        let end = start + .seconds(86_400)
        let (first, next) = (try firstAuditID(since: start), try firstAuditID(since: end))
        var counts: [DailyCount: Int] = [:]
        for (name, action) in [
            (DailyCount.newUsers, AuditEntry.Action.userCreated), (.promotions, .userPromoted), (.swaps, .userSwapped),
            (.merges, .userMerged),
        ] {
            counts[name] = try count(
                ComposedSQL(
                    select: "1",
                    from: "audit_log FORCE INDEX (audit_log_action) WHERE action = ? AND id >= ? AND id < ?",
                    action.rawValue, first, next), atMost: limit)
        }
        counts[.signIns] = try count(
            ComposedSQL(
                """
                SELECT 1 FROM login_events FORCE INDEX (login_events_day)
                WHERE created_at >= ? AND created_at < ? AND event IN ('session', 'exchange', 'web_login')
                """, start, end), atMost: limit)
        counts[.refusedSignIns] = try count(
            ComposedSQL(
                """
                SELECT 1 FROM login_events FORCE INDEX (login_events_day)
                WHERE created_at >= ? AND created_at < ? AND event = 'refused'
                """, start, end), atMost: limit)
        counts[.deadEvents] = try count(
            ComposedSQL(
                select: "1",
                from: "webhook_outbox FORCE INDEX (webhook_outbox_dead) WHERE dlq_at >= ? AND dlq_at < ?", start, end),
            atMost: limit)
        return Dictionary(uniqueKeysWithValues: counts.map { ($0.rawValue, $1) })
    }

    /// - Parameter limit: of each number.
    func countUsers(atMost limit: Int) throws -> [String: Int] {
        let rows: [(UserKind, ComposedSQL)] = [
            (.identified, ComposedSQL("SELECT 1 FROM users WHERE anonymous = FALSE")),
            (.anonymous, ComposedSQL("SELECT 1 FROM users WHERE anonymous = TRUE")),
            (.deleted, ComposedSQL("SELECT 1 FROM users WHERE purge_at IS NOT NULL")),
            (.merged, ComposedSQL("SELECT 1 FROM identity_links")),
        ]
        return try Dictionary(
            uniqueKeysWithValues: rows.map { ($0.rawValue, try count($1, atMost: limit)) })
    }

    private func count(_ rows: ComposedSQL, atMost limit: Int?) throws -> Int {
        var sql = ComposedSQL("SELECT COUNT(*) FROM (")
        sql.append(rows)
        if let limit { sql.append(" LIMIT ?", limit) }
        sql.append(") AS counted")
        return try first(sql) { row in try row.read(Int.self) } ?? 0
    }

    /// After all ids if there is no row since.
    private func firstAuditID(since time: Timestamp) throws -> Int64 {
        try first("SELECT id FROM audit_log WHERE at >= ? ORDER BY at, id LIMIT 1", time) { row in
            try row.read(Int64.self)
        } ?? .max
    }
}
