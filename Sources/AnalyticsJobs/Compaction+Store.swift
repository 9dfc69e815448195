import Analytics
import MariaDB
import Time

extension Connection {
    /// The next claims by id, each with the live record that still has the claimed id, if there is one.
    func claimedNames(after last: Int64) throws -> [(id: Int64, stray: Record.ID?)] {
        try all(
            """
            SELECT c.id, u.id
            FROM (SELECT id, project_id, anonymous_id FROM identity_claims WHERE id > ? ORDER BY id LIMIT 1000) c
            LEFT JOIN app_users u
                ON u.project_id = c.project_id AND u.user_id = c.anonymous_id AND u.merged_into IS NULL
            ORDER BY c.id
            """, last
        ) { row in (try row.read(), try row.read()) }
    }

    /// The next tombstones that are due, the oldest first. One without a time is only a name.
    func tombstones(_ due: Compaction.Due, after last: Tombstone?) throws -> [Tombstone] {
        let start = last?.mergedAt ?? Timestamp(milliseconds: 0)
        return try all(
            """
            SELECT u.id, u.merged_into, u.merged_at FROM app_users u FORCE INDEX (app_users_merged_at)
            WHERE u.merged_at BETWEEN ? AND ? AND (u.merged_at > ? OR u.id > ?) AND u.merged_into IS NOT NULL
              AND (u.merged_at <= ? OR NOT EXISTS (SELECT 1 FROM projects p WHERE p.id = u.project_id AND p.accounts))
            ORDER BY u.merged_at, u.id LIMIT 1000
            """, start, due.mergedUntil, start, last?.id ?? Record.ID(rawValue: 0), due.inAccountsProjects
        ) { row in Tombstone(id: try row.read(), owner: try row.read(), mergedAt: try row.read()) }
    }

    func count(_ reference: RecordReference, of record: Record.ID) throws -> Int {
        let sql: StaticString =
            switch reference {
            case .events: "SELECT COUNT(*) FROM events WHERE app_user_id = ?"
            case .metricEvents: "SELECT COUNT(*) FROM metric_events WHERE app_user_id = ?"
            case .funnelEvents: "SELECT COUNT(*) FROM funnel_events WHERE app_user_id = ?"
            case .issueOccurrences: "SELECT COUNT(*) FROM issue_occurrences WHERE app_user_id = ?"
            case .feedback: "SELECT COUNT(*) FROM feedback WHERE app_user_id = ?"
            case .attachments: "SELECT COUNT(*) FROM event_attachments WHERE app_user_id = ?"
            case .questionnaireResponses: "SELECT COUNT(*) FROM questionnaire_responses WHERE app_user_id = ?"
            case .apps: "SELECT COUNT(*) FROM app_user_apps WHERE app_user_id = ?"
            case .eventCounts: "SELECT COUNT(*) FROM app_user_event_counts WHERE app_user_id = ?"
            case .claims: "SELECT COUNT(*) FROM identity_claims WHERE app_user_id = ?"
            case .tombstones: "SELECT COUNT(*) FROM app_users WHERE merged_into = ?"
            }
        return try first(sql, record) { row in try row.read() } ?? 0
    }
}

extension AnalyticsTransaction {
    /// The record whose user last claimed the id of a live anonymous record.
    func claimant(ofStray record: Record.ID) throws -> Record.ID? {
        try connection.first(
            """
            SELECT c.app_user_id
            FROM app_users u
            JOIN identity_claims c ON c.project_id = u.project_id AND c.anonymous_id = u.user_id
            WHERE u.id = ? AND u.is_anonymous AND u.merged_into IS NULL
            ORDER BY c.claimed_at DESC LIMIT 1
            """, record
        ) { row in try row.read() }
    }

    /// Names the index, because a scan would wait for locks on other users' rows.
    ///
    /// - Returns: how many rows were re-pointed. If fewer than `limit`, no row names the tombstone any more.
    func repoint(
        _ reference: RecordReference, of tombstone: Record.ID, to owner: Record.ID, atMost limit: Int
    ) throws -> Int {
        let sql: StaticString? =
            switch reference {
            case .events:
                "UPDATE events FORCE INDEX (events_user) SET app_user_id = ? WHERE app_user_id = ? LIMIT ?"
            case .metricEvents:
                "UPDATE metric_events FORCE INDEX (metric_events_user) SET app_user_id = ? WHERE app_user_id = ? LIMIT ?"
            case .funnelEvents:
                "UPDATE funnel_events FORCE INDEX (funnel_events_user) SET app_user_id = ? WHERE app_user_id = ? LIMIT ?"
            case .issueOccurrences:
                """
                UPDATE issue_occurrences FORCE INDEX (issue_occurrences_user) SET app_user_id = ?
                WHERE app_user_id = ? LIMIT ?
                """
            case .feedback:
                "UPDATE feedback FORCE INDEX (feedback_user) SET app_user_id = ? WHERE app_user_id = ? LIMIT ?"
            case .attachments:
                """
                UPDATE event_attachments FORCE INDEX (event_attachments_user) SET app_user_id = ?
                WHERE app_user_id = ? LIMIT ?
                """
            case .questionnaireResponses:
                """
                UPDATE questionnaire_responses FORCE INDEX (questionnaire_responses_user) SET app_user_id = ?
                WHERE app_user_id = ? LIMIT ?
                """
            // Added to the owner's rows before.
            case .apps, .eventCounts: nil
            case .claims:
                """
                UPDATE identity_claims FORCE INDEX (identity_claims_user) SET app_user_id = ?
                WHERE app_user_id = ? LIMIT ?
                """
            case .tombstones:
                // One that was made by hand is compacted next.
                """
                UPDATE app_users FORCE INDEX (app_users_merged_into)
                SET merged_into = ?, merged_at = IF(is_anonymous, COALESCE(merged_at, '1970-01-01'), merged_at)
                WHERE merged_into = ? LIMIT ?
                """
            }
        guard let sql else { return 0 }
        return try connection.execute(sql, owner, tombstone, limit).affectedRows
    }

    /// That of an account stays as a pointer without a time: what arrives late may name the account.
    func retire(_ tombstone: Record) throws {
        if tombstone.isAnonymous {
            try connection.execute("DELETE FROM app_users WHERE id = ? AND merged_into IS NOT NULL", tombstone.id)
        } else {
            try connection.execute("UPDATE app_users SET merged_at = NULL WHERE id = ?", tombstone.id)
        }
    }
}
