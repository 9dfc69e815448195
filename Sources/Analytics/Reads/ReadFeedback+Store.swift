import MariaDB

extension Connection {
    /// - Parameter apps: at least one.
    func feedback(
        _ filter: FeedbackFilter, of apps: [VisibleApp], after cursor: Cursor<ListedFeedback.ID>?, _ limit: PageLimit
    ) throws -> [ListedFeedback] {
        let projects = Set(apps.map(\.project)).sorted()
        let branches = ComposedSQL.branches(for: projects).map { projects in
            var sql = ComposedSQL("SELECT f.id, f.created_at AS sort_value FROM feedback f")
            sql.append(" WHERE f.project_id IN ", oneOf: projects)
            sql.append(" AND f.app_id IN ", oneOf: apps.filter { projects.contains($0.project) }.map(\.id))
            sql.append(" AND f.deleted_at IS NULL")
            if let status = filter.status { sql.append(" AND f.status = ?", status) }
            for isDev in filter.modes { sql.append(" AND f.is_dev = ?", isDev) }
            if let cursor {
                sql.append(
                    " AND f.created_at <= ? AND (f.created_at < ? OR f.id < ?)", cursor.time, cursor.time, cursor.id)
            }
            sql.appendEnd(.descending, limit)
            return sql
        }
        var sql = ComposedSQL(
            """
            SELECT f.id, f.app_id, f.project_id, f.session_id, COALESCE(f.frozen_user_id, o.user_id, u.user_id), f.message,
                   f.submitter_name, f.submitter_email, f.status, f.is_dev, f.environment, f.os_version, f.app_version,
                   f.sdk_name, f.sdk_version, f.device_model, f.country_code, f.created_at, f.updated_at, a.name, p.name,
                   IF(o.id IS NULL, u.properties, o.properties)
            FROM
            """)
        sql.append(" ")
        sql.append(.page(branches, .descending, limit))
        sql.append(
            """
             STRAIGHT_JOIN feedback f ON f.id = page.id JOIN apps a ON a.id = f.app_id JOIN projects p ON p.id = f.project_id
            LEFT JOIN app_users u ON u.id = f.app_user_id LEFT JOIN app_users o ON o.id = u.merged_into
            ORDER BY page.sort_value DESC, page.id DESC
            """)
        return try all(sql) { row in try ListedFeedback(from: &row) }
    }
}
