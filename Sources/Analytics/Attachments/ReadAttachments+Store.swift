import MariaDB
import Time

extension Connection {
    /// - Returns: one more than the limit when there are more.
    func attachments(
        of team: Team.ID, _ filter: AttachmentFilter, after cursor: Cursor<Attachment.ID>?, limit: PageLimit
    ) throws -> [Attachment] {
        try all(
            """
            SELECT t.id, t.project_id, t.app_id, t.event_client_id, t.event_id, t.issue_id, t.user_id,
                   t.original_filename, t.content_type, t.size_bytes, t.sha256, t.is_dev, t.uploaded_at, t.created_at
            FROM event_attachments_resolved t
            JOIN projects p ON p.id = t.project_id JOIN apps a ON a.id = t.app_id
            WHERE p.team_id = ? AND p.deleted_at IS NULL AND a.deleted_at IS NULL AND t.deleted_at IS NULL
              AND (? IS NULL OR t.event_id = ?) AND (? IS NULL OR t.event_client_id = ?)
              AND (? IS NULL OR t.issue_id = ?) AND (? IS NULL OR t.project_id = ?)
              AND (? IS NULL OR t.created_at < ? OR t.created_at = ? AND t.id < ?)
            ORDER BY t.created_at DESC, t.id DESC LIMIT ?
            """, team, filter.event, filter.event, filter.clientEvent, filter.clientEvent, filter.issue, filter.issue,
            filter.project, filter.project, cursor?.time, cursor?.time, cursor?.time, cursor?.id, limit.oneMore
        ) { row in try Attachment(from: &row) }
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
