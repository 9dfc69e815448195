import MariaDB

extension ListWalk<Attachment.ID> {
    /// - Parameter apps: the apps that the key may see.
    static func attachments(_ filter: AttachmentFilter, of apps: [App.ID]) -> Self {
        var sources: [ComposedSQL] = []
        var condition = ComposedSQL("")
        if let event = filter.event {
            sources = [
                ComposedSQL(
                    """
                    FROM event_attachments t FORCE INDEX (event_attachments_event)
                    WHERE t.event_id = ? AND t.deleted_at IS NULL
                    """, event)
            ]
            if !apps.isEmpty { condition.append(" AND t.app_id IN ", oneOf: apps) }
            if let clientEvent = filter.clientEvent { condition.append(" AND t.event_client_id = ?", clientEvent) }
        } else if let clientEvent = filter.clientEvent {
            sources = apps.map { app in
                ComposedSQL(
                    """
                    FROM event_attachments t FORCE INDEX (event_attachments_client_created)
                    WHERE t.app_id = ? AND t.event_client_id = ? AND t.deleted_at IS NULL
                    """, app, clientEvent)
            }
        } else if let issue = filter.issue {
            sources = apps.map { app in
                ComposedSQL(
                    """
                    FROM event_attachments t FORCE INDEX (event_attachments_issue)
                    WHERE t.app_id = ? AND t.issue_id = ? AND t.deleted_at IS NULL
                    """, app, issue)
            }
        } else {
            sources = apps.map { app in
                ComposedSQL(
                    """
                    FROM event_attachments t FORCE INDEX (event_attachments_app)
                    WHERE t.app_id = ? AND t.deleted_at IS NULL
                    """, app)
            }
        }
        // Without an event, the index serves it.
        if let issue = filter.issue, filter.event != nil || filter.clientEvent != nil {
            condition.append(" AND t.issue_id = ?", issue)
        }
        return ListWalk(
            time: "t.created_at", id: "t.id", sources: apps.isEmpty ? [] : sources,
            condition: condition.isEmpty ? nil : condition,
            // The columns are short, so rows count as 0 bytes.
            size: ("SELECT page.id, page.sort_value, 0 FROM", ""))
    }
}

extension Connection {
    /// In no particular order.
    func attachments(_ page: PageKeys<Attachment.ID>) throws -> [Attachment] {
        if page.ids.isEmpty { return [] }
        var sql = ComposedSQL(
            """
            SELECT t.id, t.project_id, t.app_id, t.event_client_id, t.event_id, t.issue_id, t.user_id,
                   t.original_filename, t.content_type, t.size_bytes, t.sha256, t.is_dev, t.uploaded_at, t.created_at
            FROM event_attachments_resolved t
            """)
        sql.append(" WHERE t.id IN ", oneOfFew: page.ids)
        return try all(sql) { row in try Attachment(from: &row) }
    }

    func attachment(_ id: Attachment.ID, of team: Team.ID) throws -> Attachment? {
        try first(
            """
            SELECT t.id, t.project_id, t.app_id, t.event_client_id, t.event_id, t.issue_id, t.user_id,
                   t.original_filename, t.content_type, t.size_bytes, t.sha256, t.is_dev, t.uploaded_at, t.created_at
            FROM event_attachments_resolved t
            JOIN projects p ON p.id = t.project_id JOIN apps a ON a.id = t.app_id
            WHERE t.id = ? AND p.team_id = ? AND p.deleted_at IS NULL AND a.deleted_at IS NULL AND t.deleted_at IS NULL
            """, id, team
        ) { row in try Attachment(from: &row) }
    }
}

extension Attachment {
    init(from row: inout Row) throws(MariaDBError) {
        (id, project, app) = (try row.read(), try row.read(), try row.read())
        (clientEventID, eventID, issueID, user) = (try row.read(), try row.read(), try row.read(), try row.read())
        (filename, contentType, size, digest) = (try row.read(), try row.read(), try row.read(), try row.read())
        (isDev, uploadedAt, createdAt) = (try row.read(), try row.read(), try row.read())
    }
}
