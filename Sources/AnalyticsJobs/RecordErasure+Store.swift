import Analytics
import MariaDB
import Time

extension Connection {
    /// The next one that waits.
    func erasureRequest(after last: Int64) throws -> ErasureRequest? {
        try first(
            """
            SELECT e.id, e.project_id, e.user_id, p.purge_events
            FROM record_erasures e JOIN projects p ON p.id = e.project_id
            WHERE e.id > ? ORDER BY e.id LIMIT 1
            """, last
        ) { row in
            ErasureRequest(
                id: try row.read(), project: try row.read(), user: try row.read(), deletesEvents: try row.read())
        }
    }

    /// The record of a user, and one that points at it, which goes first.
    func erasedRecords(of request: ErasureRequest) throws -> (record: Record.ID, tombstone: Record.ID?)? {
        try first(
            """
            SELECT u.id, (SELECT MIN(t.id) FROM app_users t WHERE t.merged_into = u.id)
            FROM app_users u WHERE u.project_id = ? AND u.user_id = ?
            """, request.project, request.user
        ) { row in (try row.read(), try row.read()) }
    }

    func claimedIDs(of record: Record.ID) throws -> [EndUserID] {
        try all("SELECT anonymous_id FROM identity_claims WHERE app_user_id = ?", record) { row in try row.read() }
    }

    func events(of record: Record.ID, in table: EventTable, atMost limit: Int) throws -> [EventRow] {
        let sql: StaticString =
            switch table {
            case .events:
                "SELECT id, timestamp, app_user_id FROM events FORCE INDEX (events_user) WHERE app_user_id = ? LIMIT ?"
            case .metricEvents:
                """
                SELECT id, timestamp, app_user_id FROM metric_events FORCE INDEX (metric_events_user)
                WHERE app_user_id = ? LIMIT ?
                """
            case .funnelEvents:
                """
                SELECT id, timestamp, app_user_id FROM funnel_events FORCE INDEX (funnel_events_user)
                WHERE app_user_id = ? LIMIT ?
                """
            }
        return try all(sql, record, limit) { row in try EventRow(from: &row) }
    }
}

extension AnalyticsTransaction {
    func disown(_ rows: [EventRow], in table: EventTable) throws {
        let sql: StaticString =
            switch table {
            case .events: "UPDATE events SET app_user_id = NULL WHERE id = ? AND timestamp = ?"
            case .metricEvents: "UPDATE metric_events SET app_user_id = NULL WHERE id = ? AND timestamp = ?"
            case .funnelEvents: "UPDATE funnel_events SET app_user_id = NULL WHERE id = ? AND timestamp = ?"
            }
        _ = try connection.executeMany(sql, rows) { [$0.id, $0.timestamp] }
    }

    /// What other rows know of a record, except its own and those of events.
    ///
    /// - Returns: how many rows were changed. If fewer than `limit`, no row is left.
    func disownOthers(of record: Record.ID, deletingAttachments: Bool, atMost limit: Int) throws -> Int {
        let statements: [StaticString] = [
            "UPDATE issue_occurrences SET app_user_id = NULL WHERE app_user_id = ? LIMIT ?",
            """
            UPDATE feedback SET app_user_id = NULL, submitter_name = NULL, submitter_email = NULL
            WHERE app_user_id = ? LIMIT ?
            """,
            deletingAttachments
                ? """
                UPDATE event_attachments SET app_user_id = NULL, deleted_at = COALESCE(deleted_at, NOW(3))
                WHERE app_user_id = ? LIMIT ?
                """ : "UPDATE event_attachments SET app_user_id = NULL WHERE app_user_id = ? LIMIT ?",
            "UPDATE questionnaire_responses SET app_user_id = NULL WHERE app_user_id = ? LIMIT ?",
        ]
        var count = 0
        for statement in statements where count < limit {
            count += try connection.execute(statement, record, limit - count).affectedRows
        }
        return count
    }

    /// Deleted rows that were frozen under a user's ids: afterwards they name nobody, and have no contact data.
    ///
    /// - Returns: how many rows were changed. If fewer than `RecordErasure.chunk`, no row is left.
    func releaseFrozen(as names: [EndUserID], in project: Project.ID) throws -> Int {
        let statements: [StaticString] = [
            """
            UPDATE feedback FORCE INDEX (feedback_frozen)
            SET frozen_user_id = NULL, submitter_name = NULL, submitter_email = NULL
            WHERE project_id = ? AND frozen_user_id = ? LIMIT ?
            """,
            """
            UPDATE event_attachments FORCE INDEX (event_attachments_frozen) SET frozen_user_id = NULL
            WHERE project_id = ? AND frozen_user_id = ? LIMIT ?
            """,
            """
            UPDATE questionnaire_responses FORCE INDEX (questionnaire_responses_frozen) SET frozen_user_id = NULL
            WHERE project_id = ? AND frozen_user_id = ? LIMIT ?
            """,
        ]
        var count = 0
        for name in names {
            for statement in statements where count < RecordErasure.chunk {
                count += try connection.execute(statement, project, name, RecordErasure.chunk - count).affectedRows
            }
        }
        return count
    }

    /// With its claims, apps and counters.
    func removeRecord(_ record: Record.ID) throws {
        try connection.execute("DELETE FROM identity_claims WHERE app_user_id = ?", record)
        try connection.execute("DELETE FROM app_user_apps WHERE app_user_id = ?", record)
        try connection.execute("DELETE FROM app_user_event_counts WHERE app_user_id = ?", record)
        try connection.execute("DELETE FROM app_users WHERE id = ?", record)
    }

    func end(_ request: ErasureRequest) throws {
        try connection.execute("DELETE FROM record_erasures WHERE id = ?", request.id)
    }
}
