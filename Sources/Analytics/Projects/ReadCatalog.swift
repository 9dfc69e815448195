package import Database
import MariaDB

/// Reads of what a team has: its live apps and projects, the oldest first (analytics §13.3).
extension Analytics {
    package func apps(_ scope: ReadScope, of team: Team.ID, _ database: Database) throws -> [ListedApp] {
        if scope.excludes(team) { return [] }
        return try database.read { try $0.apps(of: team) }
    }

    package func projects(_ scope: ReadScope, of team: Team.ID, _ database: Database) throws -> [ListedProject] {
        if scope.excludes(team) { return [] }
        return try database.read { try $0.projects(of: team) }
    }
}

extension Connection {
    fileprivate func apps(of team: Team.ID) throws -> [ListedApp] {
        try all(
            """
            SELECT a.id, a.team_id, a.project_id, a.name, a.platform, a.bundle_id, a.supported_languages, a.created_at
            FROM apps a JOIN projects p ON p.id = a.project_id
            WHERE a.team_id = ? AND a.deleted_at IS NULL AND p.deleted_at IS NULL ORDER BY a.created_at, a.id
            """, team
        ) { row in
            ListedApp(
                id: try row.read(), teamID: try row.read(), projectID: try row.read(), name: try row.read(),
                platform: try row.read(), bundleID: try row.read(), supportedLanguages: try row.readJSON(),
                createdAt: try row.read())
        }
    }

    fileprivate func projects(of team: Team.ID) throws -> [ListedProject] {
        try all(
            """
            SELECT id, team_id, name, slug, color, retention_days_events, retention_days_metrics, retention_days_funnels,
                   attachment_user_quota_bytes, attachment_project_quota_bytes, claim_conflict, created_at
            FROM projects WHERE team_id = ? AND deleted_at IS NULL ORDER BY created_at, id
            """, team
        ) { row in try ListedProject(from: &row) }
    }
}
