import MariaDB
package import Time

/// An app as an operator registers it.
package struct NewApp: Sendable {
    package var project: Project.ID
    package var name: String
    package var platform: AppPlatform
    /// The id that the SDK must send; nil if it need not send one. Apps of platform `backend` have none.
    package var bundleID: String?

    package init(project: Project.ID, name: String, platform: AppPlatform, bundleID: String? = nil) {
        self.project = project
        self.name = name
        self.platform = platform
        self.bundleID = bundleID
    }

    fileprivate func check() throws(OperatorError) {
        try OperatorError.check(name: name, of: "the app")
        guard let bundleID else { return }
        guard platform != .backend else {
            throw OperatorError("an app of platform backend has no bundle id; leave it out")
        }
        guard !bundleID.isEmpty, !bundleID.isLonger(than: 255), !bundleID.hasControlCharacters,
            !bundleID.contains(where: \.isWhitespace)
        else { throw OperatorError("a bundle id has 1 to 255 characters and no spaces, for example com.example.app") }
    }
}

/// An app as an operator sees it.
package struct AppSummary: Sendable {
    package var id: App.ID
    package var team: Team.ID
    package var project: Project.ID
    package var name: String
    package var platform: AppPlatform
    package var bundleID: String?
    package var createdAt: Timestamp
}

extension AnalyticsTransaction {
    package func createApp(_ new: NewApp) throws -> AppSummary {
        try new.check()
        guard let project = try connection.project(new.project) else { throw OperatorError.noProject(new.project) }
        let app = AppSummary(
            id: App.ID(at: now), team: project.team, project: new.project, name: new.name, platform: new.platform,
            bundleID: new.bundleID, createdAt: now)
        try connection.execute(
            """
            INSERT INTO apps (id, team_id, project_id, name, platform, bundle_id, created_at)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """, app.id, app.team, app.project, app.name, app.platform, app.bundleID, app.createdAt)
        return app
    }
}

extension Connection {
    /// The live apps of one project, or of all, in order of creation.
    package func apps(project: Project.ID? = nil) throws -> [AppSummary] {
        try all(
            """
            SELECT a.id, a.team_id, a.project_id, a.name, a.platform, a.bundle_id, a.created_at
            FROM apps a JOIN projects p ON p.id = a.project_id
            WHERE a.deleted_at IS NULL AND p.deleted_at IS NULL AND (? IS NULL OR a.project_id = ?)
            ORDER BY a.created_at, a.id
            """, project, project
        ) { row in
            AppSummary(
                id: try row.read(), team: try row.read(), project: try row.read(), name: try row.read(),
                platform: try row.read(), bundleID: try row.read(), createdAt: try row.read())
        }
    }
}
