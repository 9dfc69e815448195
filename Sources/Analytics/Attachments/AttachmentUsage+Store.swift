import MariaDB

extension Connection {
    func attachmentUsage(of project: Project.ID, team: Team.ID) throws -> AttachmentUsage? {
        try first(
            """
            SELECT attachment_user_quota_bytes, attachment_project_quota_bytes, attachment_bytes, attachment_files
            FROM projects WHERE id = ? AND team_id = ? AND deleted_at IS NULL
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
            SELECT attachment_bytes, attachment_files
            FROM app_users WHERE project_id = ? AND user_id = ? AND merged_into IS NULL
            """, project, user
        ) { row in AttachmentShare(bytes: try row.read(), files: try row.read()) }
        return share ?? AttachmentShare(bytes: 0, files: 0)
    }
}
