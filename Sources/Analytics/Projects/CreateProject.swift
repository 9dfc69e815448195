import MariaDB
package import Time

/// A project as an operator sees it.
package struct ProjectSummary: Sendable {
    package var id: Project.ID
    package var team: Team.ID
    package var settings: ProjectSettings
    package var createdAt: Timestamp
}

extension AnalyticsTransaction {
    package func createProject(_ settings: ProjectSettings, team: Team.ID) throws -> ProjectSummary {
        try settings.check()
        try connection.requireTeam(team)
        let project = ProjectSummary(id: Project.ID(at: now), team: team, settings: settings, createdAt: now)
        do {
            try connection.execute(
                """
                INSERT INTO projects (id, team_id, name, slug, color, claim_conflict, retention_days_events,
                                      retention_days_metrics, retention_days_funnels, attachment_user_quota_bytes,
                                      attachment_project_quota_bytes, accounts, purge_events, created_at)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """, arguments: [project.id, team] + settings.columns + [now])
        } catch {
            throw settings.refusal(of: error)
        }
        return project
    }

    /// Changes the settings of a live project.
    ///
    /// - Parameter change: may run more than once.
    package func setProject(_ id: Project.ID, _ change: (inout ProjectSettings) -> Void) throws -> ProjectSummary {
        guard var project = try connection.lockProject(id) else { throw OperatorError.noProject(id) }
        change(&project.settings)
        try project.settings.check()
        do {
            try connection.execute(
                """
                UPDATE projects SET name = ?, slug = ?, color = ?, claim_conflict = ?, retention_days_events = ?,
                    retention_days_metrics = ?, retention_days_funnels = ?, attachment_user_quota_bytes = ?,
                    attachment_project_quota_bytes = ?, accounts = ?, purge_events = ?
                WHERE id = ?
                """, arguments: project.settings.columns + [id])
        } catch {
            throw project.settings.refusal(of: error)
        }
        return project
    }
}

extension OperatorError {
    static func noProject(_ id: Project.ID) -> OperatorError {
        OperatorError("there is no project \(id); `merganserctl project list` shows them")
    }
}

extension ProjectSettings {
    /// In the order of the table's columns.
    fileprivate var columns: Arguments {
        [
            name, slug, color, claimConflict, retentionDays.events, retentionDays.metrics, retentionDays.funnels,
            attachmentUserQuota, attachmentProjectQuota, usesAccounts, purgesEvents,
        ]
    }

    fileprivate func refusal(of error: MariaDBError) -> any Error {
        guard error.duplicateKey == "projects_team_slug" else { return error }
        return OperatorError("the team has a project with the slug \"\(slug)\" already; choose another one")
    }
}

extension Connection {
    /// The live projects of one team, or of all, in order of creation.
    package func projects(team: Team.ID? = nil) throws -> [ProjectSummary] {
        try all(
            """
            SELECT id, team_id, created_at, name, slug, color, claim_conflict, retention_days_events,
                   retention_days_metrics, retention_days_funnels, attachment_user_quota_bytes,
                   attachment_project_quota_bytes, accounts, purge_events
            FROM projects WHERE deleted_at IS NULL AND (? IS NULL OR team_id = ?) ORDER BY created_at, id
            """, team, team
        ) { row in try ProjectSummary(from: &row) }
    }

    /// Nil if there is no such project, or it is deleted.
    package func project(_ id: Project.ID) throws -> ProjectSummary? {
        try first(
            """
            SELECT id, team_id, created_at, name, slug, color, claim_conflict, retention_days_events,
                   retention_days_metrics, retention_days_funnels, attachment_user_quota_bytes,
                   attachment_project_quota_bytes, accounts, purge_events
            FROM projects WHERE id = ? AND deleted_at IS NULL
            """, id
        ) { row in try ProjectSummary(from: &row) }
    }

    fileprivate func lockProject(_ id: Project.ID) throws -> ProjectSummary? {
        try first(
            """
            SELECT id, team_id, created_at, name, slug, color, claim_conflict, retention_days_events,
                   retention_days_metrics, retention_days_funnels, attachment_user_quota_bytes,
                   attachment_project_quota_bytes, accounts, purge_events
            FROM projects WHERE id = ? AND deleted_at IS NULL FOR UPDATE
            """, id
        ) { row in try ProjectSummary(from: &row) }
    }
}

extension ProjectSummary {
    fileprivate init(from row: inout Row) throws(MariaDBError) {
        id = try row.read()
        team = try row.read()
        createdAt = try row.read()
        settings = ProjectSettings(
            name: try row.read(), slug: try row.read(), color: try row.read(), claimConflict: try row.read(),
            retentionDays: ProjectSettings.Retention(
                events: try row.read(), metrics: try row.read(), funnels: try row.read()),
            attachmentUserQuota: try row.read(), attachmentProjectQuota: try row.read(),
            usesAccounts: try row.read(), purgesEvents: try row.read())
    }
}
