import MariaDB

extension AnalyticsTransaction {
    /// Lets a record's soft-deleted rows keep its id when it gets another name (analytics §5, step 3).
    func freezeDeleted(of record: Record) throws {
        try connection.executeLater(
            """
            UPDATE feedback FORCE INDEX (feedback_user) SET frozen_user_id = ?, app_user_id = NULL
            WHERE app_user_id = ? AND deleted_at IS NOT NULL
            """, record.userID, record.id)
        try connection.executeLater(
            """
            UPDATE event_attachments FORCE INDEX (event_attachments_user) SET frozen_user_id = ?, app_user_id = NULL
            WHERE app_user_id = ? AND deleted_at IS NOT NULL
            """, record.userID, record.id)
        try freezeDeletedResponses(of: record)
    }

    /// Makes a locked record a tombstone of a locked real one (analytics §5, steps 3 and 4, "Merge"). It is anonymous, or that of
    /// an account which the other one absorbed. Rows of the three event tables still name the tombstone. Reads follow its pointer,
    /// and compaction rewrites the rows later.
    package func merge(_ anonymous: Record, into real: Record) throws {
        var properties = try real.readProperties()
        properties.absorb(try anonymous.readProperties())
        if try properties != real.readProperties() { try store(properties, of: real.id) }
        if anonymous.firstSeenAt < real.firstSeenAt {
            try connection.executeLater(
                "UPDATE app_users SET first_seen_at = ? WHERE id = ?", anonymous.firstSeenAt, real.id)
        }
        try uniteApps(of: anonymous.id, into: real.id)
        try addEventCounts(of: anonymous.id, to: real.id)
        // Live rows move; deleted ones are frozen, as in `freezeDeleted`.
        try connection.executeLater(
            """
            UPDATE feedback FORCE INDEX (feedback_user)
            SET frozen_user_id = IF(deleted_at IS NULL, NULL, ?), app_user_id = IF(deleted_at IS NULL, ?, NULL)
            WHERE app_user_id = ?
            """, anonymous.userID, real.id, anonymous.id)
        try connection.executeLater(
            """
            UPDATE event_attachments FORCE INDEX (event_attachments_user)
            SET frozen_user_id = IF(deleted_at IS NULL, NULL, ?), app_user_id = IF(deleted_at IS NULL, ?, NULL)
            WHERE app_user_id = ?
            """, anonymous.userID, real.id, anonymous.id)
        try connection.executeLater(
            "UPDATE issue_occurrences FORCE INDEX (issue_occurrences_user) SET app_user_id = ? WHERE app_user_id = ?",
            real.id, anonymous.id)
        try freezeDeletedResponses(of: anonymous)
        try mergeQuestionnaireResponses(of: anonymous, into: real)
        if !anonymous.isAnonymous {
            try moveClaims(of: anonymous.id, to: real.id)
            // So that every pointer leads to a record that is no tombstone. Its time begins again: while the merge can be undone,
            // rows that name the tombstone have to go on naming it. One without a time is only a name.
            try connection.executeLater(
                "UPDATE app_users SET merged_into = ?, merged_at = IF(merged_at IS NULL, NULL, ?) WHERE merged_into = ?",
                real.id, now, anonymous.id)
        }
        try connection.executeLater(
            "UPDATE app_users SET merged_into = ?, merged_at = ?, properties = NULL WHERE id = ?", real.id, now,
            anonymous.id)
    }

    /// Where both have claimed an id, the later time stays, because it decides against claims of others.
    private func moveClaims(of absorbed: Record.ID, to survivor: Record.ID) throws {
        try connection.execute(
            """
            UPDATE identity_claims s
            JOIN identity_claims a
                ON a.project_id = s.project_id AND a.anonymous_id = s.anonymous_id AND a.app_user_id = ?
            SET s.claimed_at = GREATEST(s.claimed_at, a.claimed_at)
            WHERE s.app_user_id = ?
            """, absorbed, survivor)
        try removeRepeatedClaims(of: absorbed, heldBy: survivor)
        try connection.execute(
            "UPDATE identity_claims SET app_user_id = ? WHERE app_user_id = ?", survivor, absorbed)
        // Two claims of one user have different times (analytics §4.2).
        while try connection.execute(
            """
            UPDATE identity_claims c
            JOIN (SELECT MAX(id) AS id FROM identity_claims WHERE app_user_id = ?
                  GROUP BY claimed_at HAVING COUNT(*) > 1) d ON d.id = c.id
            SET c.claimed_at = c.claimed_at + INTERVAL 1 MICROSECOND
            """, survivor
        ).affectedRows > 0 {}
    }

    /// If a tombstone and its owner have a claim of the same id, removes the tombstone's.
    package func removeRepeatedClaims(of tombstone: Record.ID, heldBy owner: Record.ID) throws {
        try connection.execute(
            """
            DELETE c
            FROM identity_claims c
            JOIN identity_claims o
                ON o.project_id = c.project_id AND o.anonymous_id = c.anonymous_id AND o.app_user_id = ?
            WHERE c.app_user_id = ?
            """, owner, tombstone)
    }

    package func uniteApps(of anonymous: Record.ID, into real: Record.ID) throws {
        try connection.executeLater(
            """
            INSERT INTO app_user_apps (app_user_id, app_id, first_seen_at, last_seen_at)
            SELECT ?, app_id, first_seen_at, last_seen_at FROM app_user_apps a FORCE INDEX (PRIMARY)
            WHERE app_user_id = ?
            ON DUPLICATE KEY UPDATE first_seen_at = LEAST(app_user_apps.first_seen_at, VALUES(first_seen_at)),
                                    last_seen_at = GREATEST(app_user_apps.last_seen_at, VALUES(last_seen_at))
            """, real, anonymous)
        try connection.executeLater("DELETE FROM app_user_apps WHERE app_user_id = ?", anonymous)
    }

    /// Adds the event counts of months that are not before the horizon. The horizon is locked until this transaction
    /// ends: retention deletes the counts before it, and may later move it back, so no count may be missed.
    package func addEventCounts(of anonymous: Record.ID, to real: Record.ID) throws {
        try connection.executeLater(
            """
            INSERT INTO app_user_event_counts (app_user_id, month, n)
            SELECT ?, month, n
            FROM app_user_event_counts a FORCE INDEX (PRIMARY)
            WHERE app_user_id = ? AND month >= (
                SELECT DATE(horizon) FROM retention_horizons WHERE table_name = 'events' LOCK IN SHARE MODE)
            ON DUPLICATE KEY UPDATE n = app_user_event_counts.n + VALUES(n)
            """, real, anonymous)
        try connection.executeLater("DELETE FROM app_user_event_counts WHERE app_user_id = ?", anonymous)
    }
}
