import MariaDB

extension Connection {
    func attachmentUsage(of project: Project.ID, team: Team.ID) throws -> AttachmentUsage? {
        try first(
            """
            SELECT MAX(p.attachment_user_quota_bytes), MAX(p.attachment_project_quota_bytes),
                   CAST(COALESCE(SUM(t.size_bytes), 0) AS SIGNED), COUNT(t.size_bytes)
            FROM projects p LEFT JOIN event_attachments t ON t.project_id = p.id
            WHERE p.id = ? AND p.team_id = ? AND p.deleted_at IS NULL
            GROUP BY p.id
            """, project, team
        ) { row in
            let quotas = AttachmentQuota.effective(user: try row.read(), project: try row.read())
            return AttachmentUsage(
                project: project, bytes: try row.read(), files: try row.read(), quota: quotas.project.limit,
                userQuota: quotas.user.limit)
        }
    }

    func attachmentShare(of user: EndUserID, in project: Project.ID) throws -> AttachmentShare {
        let share = try first(
            """
            SELECT CAST(COALESCE(SUM(t.size_bytes), 0) AS SIGNED), COUNT(t.size_bytes)
            FROM app_users u JOIN event_attachments t ON t.app_user_id = u.id
            WHERE u.project_id = ? AND u.user_id = ? AND u.merged_into IS NULL
            """, project, user
        ) { row in AttachmentShare(bytes: try row.read(), files: try row.read()) }
        return share ?? AttachmentShare(bytes: 0, files: 0)
    }
}
