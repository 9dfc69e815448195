import MariaDB

/// A live app of a live project.
struct VisibleApp {
    var id: App.ID
    var project: Project.ID
}

extension Connection {
    func visibleApps(of team: Team.ID, in scope: ReadScope) throws -> [VisibleApp] {
        if scope.excludes(team) { return [] }
        var sql = ComposedSQL(
            """
            SELECT a.id, a.project_id FROM apps a JOIN projects p ON p.id = a.project_id
            WHERE a.team_id = ? AND a.deleted_at IS NULL AND p.deleted_at IS NULL
            """, team)
        if let project = scope.project { sql.append(" AND a.project_id = ?", project) }
        if let app = scope.app { sql.append(" AND a.id = ?", app) }
        return try all(sql) { row in VisibleApp(id: try row.read(), project: try row.read()) }
    }

    /// Live projects, even those without apps.
    func visibleProjects(of team: Team.ID, in scope: ReadScope) throws -> [Project.ID] {
        if scope.excludes(team) { return [] }
        if scope.app != nil { return try visibleApps(of: team, in: scope).map(\.project) }
        var sql = ComposedSQL("SELECT p.id FROM projects p WHERE p.team_id = ? AND p.deleted_at IS NULL", team)
        if let project = scope.project { sql.append(" AND p.id = ?", project) }
        return try all(sql) { row in try row.read() }
    }

    /// - Throws: `notFound` unless the project is live and belongs to the team.
    func requireProject(_ id: String, of team: Team.ID) throws -> Project.ID {
        guard let project = try visibleProjects(of: team, in: ReadScope(project: id)).first else {
            throw Refusal.notFound("Project not found")
        }
        return project
    }

    /// - Throws: `notFound` unless the app is live and belongs to the team.
    func requireApp(_ id: String, of team: Team.ID) throws -> App.ID {
        guard let app = try visibleApps(of: team, in: ReadScope(app: id)).first else {
            throw Refusal.notFound("App not found")
        }
        return app.id
    }
}
