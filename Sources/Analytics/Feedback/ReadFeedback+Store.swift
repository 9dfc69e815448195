import MariaDB

extension ListWalk<ListedFeedback.ID> {
    static func feedback(_ filter: FeedbackFilter, of apps: [App.ID]) -> Self {
        ListWalk(
            time: "f.created_at", id: "f.id",
            sources: filter.modes.flatMap { isDev in apps.map { app in source(filter.status, app, isDev) } },
            size: (
                """
                SELECT page.id, page.sort_value,
                       OCTET_LENGTH(f.message)
                           + COALESCE(OCTET_LENGTH(IF(o.id IS NULL, u.properties, o.properties)), 0)
                FROM
                """,
                """
                 STRAIGHT_JOIN feedback f ON f.id = page.id
                LEFT JOIN app_users u ON u.id = f.app_user_id LEFT JOIN app_users o ON o.id = u.merged_into
                """
            ))
    }

    private static func source(_ status: String?, _ app: App.ID, _ isDev: Bool) -> ComposedSQL {
        if let status {
            ComposedSQL(
                """
                FROM feedback f FORCE INDEX (feedback_status)
                WHERE f.app_id = ? AND f.deleted_at IS NULL AND f.is_dev = ? AND f.status = ?
                """, app, isDev, status)
        } else {
            ComposedSQL(
                """
                FROM feedback f FORCE INDEX (feedback_app)
                WHERE f.app_id = ? AND f.deleted_at IS NULL AND f.is_dev = ?
                """, app, isDev)
        }
    }
}

extension Connection {
    /// In no particular order.
    func feedback(_ page: PageKeys<ListedFeedback.ID>) throws -> [ListedFeedback] {
        if page.ids.isEmpty { return [] }
        var sql = ComposedSQL(
            """
            SELECT f.id, f.app_id, f.project_id, f.session_id, COALESCE(f.frozen_user_id, o.user_id, u.user_id), f.message,
                   f.submitter_name, f.submitter_email, f.status, f.is_dev, f.environment, f.os_version, f.app_version,
                   f.sdk_name, f.sdk_version, f.device_model, f.country_code, f.created_at, f.updated_at, a.name, p.name,
                   IF(o.id IS NULL, u.properties, o.properties)
            FROM feedback f FORCE INDEX (PRIMARY) JOIN apps a ON a.id = f.app_id JOIN projects p ON p.id = f.project_id
            LEFT JOIN app_users u ON u.id = f.app_user_id LEFT JOIN app_users o ON o.id = u.merged_into
            """)
        sql.append(" WHERE f.id IN ", oneOfFew: page.ids)
        return try all(sql) { row in try ListedFeedback(from: &row) }
    }
}
