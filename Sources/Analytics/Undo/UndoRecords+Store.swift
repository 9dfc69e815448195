import MariaDB
import Time

extension Connection {
    /// The events that name these records, from the horizon on, for each owner and month.
    func countEvents(of records: Set<Record.ID>, since horizon: Timestamp) throws -> [EventCounter: Int] {
        if records.isEmpty { return [:] }
        let counts = try all(
            """
            SELECT COALESCE(u.merged_into, u.id), CAST(DATE_FORMAT(e.timestamp, '%Y-%m-01') AS DATETIME(3)), COUNT(*)
            FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT UNSIGNED PATH '$' ERROR ON ERROR)) j
            STRAIGHT_JOIN app_users u FORCE INDEX (PRIMARY) ON u.id = j.id
            STRAIGHT_JOIN events e FORCE INDEX (events_user) ON e.app_user_id = u.id AND e.timestamp >= ?
            GROUP BY 1, 2
            """, list(records.sorted().map(\.rawValue)), horizon
        ) { row in
            (counter: EventCounter(owner: try row.read(), timestamp: try row.read()), count: try row.read(Int.self))
        }
        return Dictionary(uniqueKeysWithValues: counts.compactMap { row in row.counter.map { ($0, row.count) } })
    }

    /// Those of the records that no row names, and that have no properties.
    fileprivate func unnamed(_ records: [Record.ID]) throws -> [Record.ID] {
        try all(
            """
            SELECT u.id
            FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT UNSIGNED PATH '$' ERROR ON ERROR)) j
            STRAIGHT_JOIN app_users u FORCE INDEX (PRIMARY) ON u.id = j.id
            WHERE COALESCE(u.properties, '{}') = '{}'
              AND NOT EXISTS (SELECT 1 FROM events r FORCE INDEX (events_user) WHERE r.app_user_id = u.id)
              AND NOT EXISTS (SELECT 1 FROM metric_events r FORCE INDEX (metric_events_user) WHERE r.app_user_id = u.id)
              AND NOT EXISTS (SELECT 1 FROM funnel_events r FORCE INDEX (funnel_events_user) WHERE r.app_user_id = u.id)
              AND NOT EXISTS (SELECT 1 FROM issue_occurrences r WHERE r.app_user_id = u.id)
              AND NOT EXISTS (SELECT 1 FROM feedback r WHERE r.app_user_id = u.id)
              AND NOT EXISTS (SELECT 1 FROM event_attachments r WHERE r.app_user_id = u.id)
              AND NOT EXISTS (SELECT 1 FROM questionnaire_responses r WHERE r.app_user_id = u.id)
              AND NOT EXISTS (SELECT 1 FROM app_user_apps r WHERE r.app_user_id = u.id)
              AND NOT EXISTS (SELECT 1 FROM app_user_event_counts r WHERE r.app_user_id = u.id)
              AND NOT EXISTS (SELECT 1 FROM identity_claims r WHERE r.app_user_id = u.id)
              AND NOT EXISTS (SELECT 1 FROM app_users r WHERE r.merged_into = u.id)
            """, list(records.map(\.rawValue))
        ) { row in try row.read() }
    }
}

extension AnalyticsTransaction {
    /// Puts rows back, and removes those that the merge made, but for records.
    func restore(_ plan: RecordsUndo) throws {
        try connection.executeMany(
            "UPDATE app_users SET merged_into = ?, merged_at = ?, first_seen_at = ?, properties = ? WHERE id = ?",
            plan.records.sorted { $0.id < $1.id }
        ) { [$0.owner, $0.mergedAt, $0.firstSeenAt, $0.properties, $0.id] }
        for table in OwnedRow.Table.allCases { try restore(plan.rows.filter { $0.table == table }, of: table) }
        try restore(plan.apps)
        try restore(plan.claims)
    }

    private func restore(_ rows: [OwnedRow], of table: OwnedRow.Table) throws {
        switch table {
        case .feedback:
            try connection.executeMany(
                "UPDATE feedback SET app_user_id = ?, frozen_user_id = NULL WHERE id = UNHEX(?)", rows
            ) { [$0.owner, $0.key] }
        case .attachments:
            try connection.executeMany(
                "UPDATE event_attachments SET app_user_id = ?, frozen_user_id = NULL WHERE id = UNHEX(?)", rows
            ) { [$0.owner, $0.key] }
        case .issueOccurrences:
            try connection.executeMany("UPDATE issue_occurrences SET app_user_id = ? WHERE id = UNHEX(?)", rows) {
                [$0.owner, $0.key]
            }
        case .questionnaireResponses:
            try connection.executeMany(
                """
                UPDATE questionnaire_responses SET app_user_id = ?, frozen_user_id = NULL, deleted_at = ?, updated_at = ?
                WHERE id = UNHEX(?)
                """, rows
            ) { [$0.owner, $0.deletedAt, $0.updatedAt, $0.key] }
        }
    }

    private func restore(_ apps: [Change<AppState>]) throws {
        try connection.executeMany(
            "DELETE FROM app_user_apps WHERE app_user_id = ? AND app_id = UNHEX(?)",
            apps.filter { $0.before == nil }.compactMap(\.after)
        ) { [$0.record, $0.app] }
        try connection.executeMany(
            """
            INSERT INTO app_user_apps (app_user_id, app_id, first_seen_at, last_seen_at) VALUES (?, UNHEX(?), ?, ?)
            ON DUPLICATE KEY UPDATE first_seen_at = VALUES(first_seen_at), last_seen_at = VALUES(last_seen_at)
            """, apps.compactMap(\.before)
        ) { [$0.record, $0.app, $0.firstSeenAt, $0.lastSeenAt] }
    }

    private func restore(_ claims: [Change<ClaimState>]) throws {
        try connection.executeMany(
            "DELETE FROM identity_claims WHERE id = ?", claims.filter { $0.before == nil }.compactMap(\.after)
        ) { [$0.id] }
        try connection.executeMany(
            "UPDATE identity_claims SET app_user_id = ?, claimed_at = ? WHERE id = ?",
            claims.filter { $0.after != nil }.compactMap(\.before)
        ) { [$0.owner, $0.claimedAt, $0.id] }
        try connection.executeMany(
            """
            INSERT INTO identity_claims (id, project_id, anonymous_id, app_user_id, claimed_at)
            VALUES (?, UNHEX(?), ?, ?, ?)
            """, claims.filter { $0.after == nil }.compactMap(\.before)
        ) { [$0.id, $0.project, $0.anonymousID, $0.owner, $0.claimedAt] }
    }

    func removeEmptyCounters(of records: Set<Record.ID>) throws {
        try connection.executeMany(
            "DELETE FROM app_user_event_counts WHERE app_user_id = ? AND n = 0", records.sorted()
        ) { [$0] }
    }

    /// Records that nothing was stored under. They are locked, so nobody names one now.
    func removeUnnamed(_ records: [Record.ID]) throws {
        if records.isEmpty { return }
        try connection.executeMany(
            "DELETE FROM app_users WHERE id = ?", try connection.unnamed(records)
        ) { [$0] }
    }
}
