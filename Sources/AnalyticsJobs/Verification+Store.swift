import MariaDB

extension Connection {
    /// One statement, so all rows are from the same moment.
    func violations(of invariant: Invariant) throws -> [String] {
        try all(invariant.violations) { row in try row.read() }
    }
}

extension Invariant {
    /// A statement that finds at most `Violation.limit` rows that break the invariant. It names each by its table and
    /// its key.
    var violations: StaticString {
        switch self {
        case .oneRecordPerName:
            """
            SELECT CONCAT('app_users ', GROUP_CONCAT(id ORDER BY id))
            FROM app_users GROUP BY project_id, user_id HAVING COUNT(*) > 1 LIMIT 100
            """
        case .kindFollowsName:
            """
            SELECT CONCAT('app_users ', id) FROM app_users
            WHERE is_anonymous <> (LEFT(user_id, 9) = 'owl_anon_') LIMIT 100
            """
        case .tombstonesPointAtRealRecords:
            """
            SELECT CONCAT('app_users ', u.id)
            FROM app_users u LEFT JOIN app_users o ON o.id = u.merged_into
            WHERE u.merged_into IS NOT NULL
              AND (o.id IS NULL OR o.merged_into IS NOT NULL OR o.is_anonymous OR o.project_id <> u.project_id
                   OR u.is_anonymous AND u.merged_at IS NULL)
            LIMIT 100
            """
        case .claimsNameRealRecords:
            """
            SELECT CONCAT('identity_claims ', c.id)
            FROM identity_claims c LEFT JOIN app_users u ON u.id = c.app_user_id
            WHERE u.id IS NULL OR u.is_anonymous OR u.merged_into IS NOT NULL OR u.project_id <> c.project_id
               OR LEFT(c.anonymous_id, 9) <> 'owl_anon_'
            LIMIT 100
            """
        case .claimTimesIncrease:
            """
            SELECT CONCAT('identity_claims ', GROUP_CONCAT(id ORDER BY id))
            FROM identity_claims GROUP BY project_id, anonymous_id, claimed_at HAVING COUNT(*) > 1
            UNION
            SELECT CONCAT('identity_claims ', GROUP_CONCAT(id ORDER BY id))
            FROM identity_claims GROUP BY app_user_id, claimed_at HAVING COUNT(*) > 1
            LIMIT 100
            """
        case .claimedIDsHaveNoLiveRecord:
            """
            SELECT DISTINCT CONCAT('app_users ', u.id)
            FROM identity_claims c
            JOIN app_users u ON u.project_id = c.project_id AND u.user_id = c.anonymous_id
            WHERE u.merged_into IS NULL LIMIT 100
            """
        case .rowsNameRecords:
            """
            SELECT r.place
            FROM (
                SELECT CONCAT('events ', HEX(id)) AS place, app_user_id FROM events
                UNION ALL SELECT CONCAT('metric_events ', HEX(id)), app_user_id FROM metric_events
                UNION ALL SELECT CONCAT('funnel_events ', HEX(id)), app_user_id FROM funnel_events
                UNION ALL SELECT CONCAT('issue_occurrences ', HEX(id)), app_user_id FROM issue_occurrences
                UNION ALL SELECT CONCAT('feedback ', HEX(id)), app_user_id FROM feedback
                UNION ALL SELECT CONCAT('event_attachments ', HEX(id)), app_user_id FROM event_attachments
                UNION ALL SELECT CONCAT('questionnaire_responses ', HEX(id)), app_user_id FROM questionnaire_responses
                UNION ALL SELECT CONCAT('app_user_apps ', app_user_id, ' ', HEX(app_id)), app_user_id FROM app_user_apps
                UNION ALL
                SELECT CONCAT('app_user_event_counts ', app_user_id, ' ', month), app_user_id FROM app_user_event_counts
            ) r
            LEFT JOIN app_users u ON u.id = r.app_user_id
            WHERE r.app_user_id IS NOT NULL AND u.id IS NULL
            LIMIT 100
            """
        case .rowsNameRecordsOfTheirProject:
            """
            SELECT r.place
            FROM (
                SELECT CONCAT('events ', HEX(id)) AS place, app_id, app_user_id FROM events
                UNION ALL SELECT CONCAT('metric_events ', HEX(id)), app_id, app_user_id FROM metric_events
                UNION ALL SELECT CONCAT('funnel_events ', HEX(id)), app_id, app_user_id FROM funnel_events
                UNION ALL SELECT CONCAT('feedback ', HEX(id)), app_id, app_user_id FROM feedback
                UNION ALL SELECT CONCAT('event_attachments ', HEX(id)), app_id, app_user_id FROM event_attachments
                UNION ALL SELECT CONCAT('questionnaire_responses ', HEX(id)), app_id, app_user_id FROM questionnaire_responses
                UNION ALL
                SELECT CONCAT('app_user_apps ', app_user_id, ' ', HEX(app_id)), app_id, app_user_id FROM app_user_apps
                UNION ALL
                SELECT CONCAT('issue_occurrences ', HEX(o.id)), i.app_id, o.app_user_id
                FROM issue_occurrences o JOIN issues i ON i.id = o.issue_id
            ) r
            JOIN apps a ON a.id = r.app_id
            JOIN app_users u ON u.id = r.app_user_id
            WHERE u.project_id <> a.project_id
            LIMIT 100
            """
        case .onlyEventsNameTombstones:
            """
            SELECT r.place
            FROM (
                SELECT CONCAT('issue_occurrences ', HEX(id)) AS place, app_user_id FROM issue_occurrences
                UNION ALL SELECT CONCAT('feedback ', HEX(id)), app_user_id FROM feedback
                UNION ALL SELECT CONCAT('event_attachments ', HEX(id)), app_user_id FROM event_attachments
                UNION ALL SELECT CONCAT('questionnaire_responses ', HEX(id)), app_user_id FROM questionnaire_responses
                UNION ALL SELECT CONCAT('app_user_apps ', app_user_id, ' ', HEX(app_id)), app_user_id FROM app_user_apps
                UNION ALL
                SELECT CONCAT('app_user_event_counts ', app_user_id, ' ', month), app_user_id FROM app_user_event_counts
            ) r
            JOIN app_users u ON u.id = r.app_user_id
            WHERE u.merged_into IS NOT NULL
            LIMIT 100
            """
        case .frozenRowsNameNobody:
            """
            SELECT r.place
            FROM (
                SELECT CONCAT('feedback ', HEX(id)) AS place, app_user_id, frozen_user_id, deleted_at FROM feedback
                UNION ALL
                SELECT CONCAT('event_attachments ', HEX(id)), app_user_id, frozen_user_id, deleted_at FROM event_attachments
                UNION ALL
                SELECT CONCAT('questionnaire_responses ', HEX(id)), app_user_id, frozen_user_id, deleted_at
                FROM questionnaire_responses
            ) r
            WHERE r.frozen_user_id IS NOT NULL AND (r.app_user_id IS NOT NULL OR r.deleted_at IS NULL)
            LIMIT 100
            """
        case .oneLiveResponse:
            """
            SELECT CONCAT('questionnaire_responses ', GROUP_CONCAT(HEX(r.id) ORDER BY r.id))
            FROM questionnaire_responses r JOIN app_users u ON u.id = r.app_user_id
            WHERE r.deleted_at IS NULL
            GROUP BY r.project_id, r.slug, COALESCE(u.merged_into, u.id) HAVING COUNT(*) > 1 LIMIT 100
            """
        case .eventsAreStoredOnce:
            """
            SELECT CONCAT('events ', GROUP_CONCAT(HEX(id) ORDER BY id))
            FROM events WHERE client_event_id IS NOT NULL
            GROUP BY app_id, client_event_id, timestamp HAVING COUNT(*) > 1 LIMIT 100
            """
        case .countersEqualRows:
            """
            SELECT CONCAT('app_user_event_counts ', s.app_user_id, ' ', s.month, ': ', SUM(s.counted), ', events: ',
                          SUM(s.stored))
            FROM (
                SELECT COALESCE(u.merged_into, c.app_user_id) AS app_user_id, c.month, c.n AS counted, 0 AS stored
                FROM app_user_event_counts c LEFT JOIN app_users u ON u.id = c.app_user_id
                WHERE c.month >= (SELECT DATE(horizon) FROM retention_horizons WHERE table_name = 'events')
                UNION ALL
                SELECT COALESCE(u.merged_into, e.app_user_id), CAST(DATE_FORMAT(e.timestamp, '%Y-%m-01') AS DATE), 0, COUNT(*)
                FROM events e LEFT JOIN app_users u ON u.id = e.app_user_id
                WHERE e.app_user_id IS NOT NULL
                  AND e.timestamp >= (SELECT horizon FROM retention_horizons WHERE table_name = 'events')
                GROUP BY 1, 2
            ) s
            GROUP BY s.app_user_id, s.month HAVING SUM(s.counted) <> SUM(s.stored) LIMIT 100
            """
        case .attachmentCountsEqualRows:
            """
            SELECT CONCAT('projects ', HEX(p.id))
            FROM projects p LEFT JOIN event_attachments t ON t.project_id = p.id
            GROUP BY p.id
            HAVING MAX(p.attachment_bytes) <> COALESCE(SUM(t.size_bytes), 0) OR MAX(p.attachment_files) <> COUNT(t.id)
            UNION ALL
            SELECT CONCAT('app_users ', u.id)
            FROM app_users u LEFT JOIN event_attachments t ON t.app_user_id = u.id
            GROUP BY u.id
            HAVING MAX(u.attachment_bytes) <> COALESCE(SUM(t.size_bytes), 0) OR MAX(u.attachment_files) <> COUNT(t.id)
            LIMIT 100
            """
        case .horizonsAreMonths:
            """
            SELECT CONCAT('retention_horizons ', t.name)
            FROM (SELECT 'events' AS name UNION ALL SELECT 'metric_events' UNION ALL SELECT 'funnel_events') t
            LEFT JOIN retention_horizons h ON h.table_name = t.name
            WHERE h.horizon IS NULL OR h.horizon <> DATE_FORMAT(h.horizon, '%Y-%m-01')
            """
        case .deadEventsAwaitTheirDrop:
            """
            SELECT CONCAT('events ', HEX(id))
            FROM events
            WHERE timestamp < (SELECT horizon FROM retention_horizons WHERE table_name = 'events')
              AND NOT EXISTS (
                SELECT 1 FROM information_schema.PARTITIONS
                WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'events' AND PARTITION_DESCRIPTION <> 'MAXVALUE'
                  AND CAST(TRIM(BOTH '''' FROM PARTITION_DESCRIPTION) AS DATETIME) <=
                      (SELECT horizon FROM retention_horizons WHERE table_name = 'events'))
            LIMIT 100
            """
        }
    }
}
