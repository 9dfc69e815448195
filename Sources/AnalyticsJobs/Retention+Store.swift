import Analytics
import JSON
import MariaDB
import Time

extension Connection {
    func horizon(of table: EventTable) throws -> Timestamp {
        try first("SELECT horizon FROM retention_horizons WHERE table_name = ?", table.name) { row in
            try row.read()
        } ?? Timestamp(milliseconds: 0)
    }

    /// Sorted by their ends.
    func partitions(of table: EventTable) throws -> [Partition] {
        try all(
            """
            SELECT PARTITION_NAME, IF(PARTITION_DESCRIPTION = 'MAXVALUE', NULL,
                CAST(TRIM(BOTH '''' FROM PARTITION_DESCRIPTION) AS DATETIME(3)))
            FROM information_schema.PARTITIONS
            WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ? ORDER BY PARTITION_ORDINAL_POSITION
            """, table.name
        ) { row in Partition(name: try row.read(), end: try row.read()) }
    }

    /// The longest retention of all projects, in days. Deleted projects count, because they may be restored.
    func longestRetention(of table: EventTable) throws -> Int {
        let sql: StaticString =
            switch table {
            case .events: "SELECT MAX(COALESCE(retention_days_events, ?)) FROM projects"
            case .metricEvents: "SELECT MAX(COALESCE(retention_days_metrics, ?)) FROM projects"
            case .funnelEvents: "SELECT MAX(COALESCE(retention_days_funnels, ?)) FROM projects"
            }
        let days = try first(sql, table.defaultRetentionDays) { row in try row.read(Int?.self) }
        return (days ?? nil) ?? table.defaultRetentionDays
    }

    /// The retention of each app's project, in days; nil for the default. Includes deleted apps.
    func retentionDays(of table: EventTable) throws -> [(App.ID, Int?)] {
        let sql: StaticString =
            switch table {
            case .events:
                "SELECT a.id, p.retention_days_events FROM apps a JOIN projects p ON p.id = a.project_id ORDER BY a.id"
            case .metricEvents:
                "SELECT a.id, p.retention_days_metrics FROM apps a JOIN projects p ON p.id = a.project_id ORDER BY a.id"
            case .funnelEvents:
                "SELECT a.id, p.retention_days_funnels FROM apps a JOIN projects p ON p.id = a.project_id ORDER BY a.id"
            }
        return try all(sql) { row in (try row.read(), try row.read()) }
    }

    /// At most `Retention.chunk` counters of months before the horizon.
    func counters(before horizon: Timestamp) throws -> [(record: Record.ID, month: String)] {
        try all(
            """
            SELECT app_user_id, CAST(month AS CHAR)
            FROM app_user_event_counts FORCE INDEX (app_user_event_counts_month)
            WHERE month < DATE(?) ORDER BY month, app_user_id LIMIT 1000
            """, horizon
        ) { row in (try row.read(), try row.read()) }
    }

    func countCounters(before horizon: Timestamp) throws -> Int {
        try first("SELECT COUNT(*) FROM app_user_event_counts WHERE month < DATE(?)", horizon) { row in
            try row.read()
        } ?? 0
    }

    func countRows(
        of table: EventTable, app: App.ID, from start: Timestamp, to end: Timestamp
    ) throws -> Int {
        let sql: StaticString =
            switch table {
            case .events:
                """
                SELECT COUNT(*) FROM events
                WHERE app_id = ? AND is_dev IN (FALSE, TRUE) AND timestamp >= ? AND timestamp < ?
                """
            case .metricEvents:
                "SELECT COUNT(*) FROM metric_events WHERE app_id = ? AND timestamp >= ? AND timestamp < ?"
            case .funnelEvents:
                "SELECT COUNT(*) FROM funnel_events WHERE app_id = ? AND timestamp >= ? AND timestamp < ?"
            }
        return try first(sql, app, start, end) { row in try row.read() } ?? 0
    }

    /// At most `Retention.chunk` rows. Sorted by time only, like the index in each partition, so that no further rows
    /// are read.
    func oldestRows(of table: EventTable, app: App.ID, before cutoff: Timestamp) throws -> [EventRow] {
        let sql: StaticString =
            switch table {
            case .events:
                """
                (SELECT id, timestamp, app_user_id FROM events FORCE INDEX (events_app)
                 WHERE app_id = ? AND is_dev = FALSE AND timestamp < ? ORDER BY timestamp LIMIT 1000)
                UNION ALL
                (SELECT id, timestamp, app_user_id FROM events FORCE INDEX (events_app)
                 WHERE app_id = ? AND is_dev = TRUE AND timestamp < ? ORDER BY timestamp LIMIT 1000)
                ORDER BY timestamp LIMIT 1000
                """
            case .metricEvents:
                """
                SELECT id, timestamp, app_user_id FROM metric_events FORCE INDEX (metric_events_app)
                WHERE app_id = ? AND timestamp < ? ORDER BY timestamp LIMIT 1000
                """
            case .funnelEvents:
                """
                SELECT id, timestamp, app_user_id FROM funnel_events FORCE INDEX (funnel_events_app)
                WHERE app_id = ? AND timestamp < ? ORDER BY timestamp LIMIT 1000
                """
            }
        let arguments: [any Bindable] = [app, cutoff]
        // The index has production and development events apart.
        return try all(sql, arguments: table == .events ? arguments + arguments : arguments) { row in
            try EventRow(from: &row)
        }
    }

    /// The records that these tombstones point at.
    func owners(of records: Set<Record.ID>) throws -> Set<Record.ID> {
        Set(
            try all(
                """
                SELECT u.merged_into
                FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT UNSIGNED PATH '$' ERROR ON ERROR)) j
                STRAIGHT_JOIN app_users u FORCE INDEX (PRIMARY) ON u.id = j.id
                WHERE u.merged_into IS NOT NULL
                """, list(records.sorted().map(\.rawValue))
            ) { row in try row.read() })
    }
}

extension AnalyticsTransaction {
    /// Locks the horizon. Waits for every transaction that relies on its position.
    func lockHorizon(of table: EventTable) throws -> Timestamp {
        try connection.first(
            "SELECT horizon FROM retention_horizons WHERE table_name = ? FOR UPDATE", table.name
        ) { row in try row.read() } ?? Timestamp(milliseconds: 0)
    }

    func setHorizon(of table: EventTable, to horizon: Timestamp) throws {
        try connection.execute("UPDATE retention_horizons SET horizon = ? WHERE table_name = ?", horizon, table.name)
    }

    func deleteCounters(_ counters: [(record: Record.ID, month: String)]) throws {
        try connection.executeMany(
            "DELETE FROM app_user_event_counts WHERE app_user_id = ? AND month = ?",
            counters.map { [$0.record, $0.month] })
    }

    /// Those of the rows that still exist, locked, with their present values.
    func eventsStillThere(_ rows: [EventRow]) throws -> [EventRow] {
        try connection.all(
            """
            SELECT e.id, e.timestamp, e.app_user_id
            FROM JSON_TABLE(?, '$[*]' COLUMNS (
                id CHAR(32) CHARACTER SET ascii PATH '$.id' ERROR ON ERROR,
                timestamp DATETIME(3) PATH '$.timestamp' ERROR ON ERROR)) j
            STRAIGHT_JOIN events e FORCE INDEX (PRIMARY) ON e.id = UNHEX(j.id) AND e.timestamp = j.timestamp
            FOR UPDATE
            """, EventRow.list(rows)
        ) { row in try EventRow(from: &row) }
    }

    /// - Returns: how many of the rows still existed.
    func delete(_ rows: [EventRow], from table: EventTable) throws -> Int {
        let sql: StaticString =
            switch table {
            case .events: "DELETE FROM events WHERE id = ? AND timestamp = ?"
            case .metricEvents: "DELETE FROM metric_events WHERE id = ? AND timestamp = ?"
            case .funnelEvents: "DELETE FROM funnel_events WHERE id = ? AND timestamp = ?"
            }
        return try connection.executeMany(sql, rows) { [$0.id, $0.timestamp] }.affectedRows
    }
}

/// The key of a row of an event table, and the record that the row names.
struct EventRow {
    let id: UUID
    let timestamp: Timestamp
    let record: Record.ID?

    init(from row: inout Row) throws(MariaDBError) {
        id = try row.read()
        timestamp = try row.read()
        record = try row.read()
    }

    /// The keys of any number of rows as one parameter.
    static func list(_ rows: [EventRow]) -> String {
        String(decoding: rows.map { Key(id: $0.id.digits, timestamp: $0.timestamp.sql) }.json(), as: UTF8.self)
    }

    private struct Key: Encodable {
        let id: String
        let timestamp: String
    }
}

extension Timestamp {
    /// The format in which MariaDB writes a `DATETIME(3)`.
    fileprivate var sql: String { String(iso8601Milliseconds.dropLast()).replacing("T", with: " ") }
}
