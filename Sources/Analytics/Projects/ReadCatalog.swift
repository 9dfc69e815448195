package import Database
import JSON
import MariaDB

/// Reads of a team's live apps and projects, the oldest first (analytics §13.3).
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

/// An app as reads show it, with the members and their order of analytics §13.3.
package struct ListedApp: Encodable, Sendable {
    let id: App.ID
    let teamID: Team.ID
    let projectID: Project.ID
    let name: String
    let platform: String
    @Nullable var bundleID: String?
    @Nullable var supportedLanguages: JSONValue?
    /// Always nil: secrets cannot be recovered.
    @Nullable var clientSecret: String?
    let createdAt: WireTime
}

/// A project as reads show it, with the members and their order of analytics §13.3.
package struct ListedProject: Encodable, Sendable {
    let id: Project.ID
    let teamID: Team.ID
    let name: String
    let slug: String
    @Nullable var color: String?
    @Nullable var retentionDaysEvents: Int?
    @Nullable var retentionDaysMetrics: Int?
    @Nullable var retentionDaysFunnels: Int?
    let effectiveRetentionDaysEvents: Int
    let effectiveRetentionDaysMetrics: Int
    let effectiveRetentionDaysFunnels: Int
    @Nullable var attachmentUserQuotaBytes: Int64?
    @Nullable var attachmentProjectQuotaBytes: Int64?
    let effectiveAttachmentUserQuotaBytes: Int64
    let effectiveAttachmentProjectQuotaBytes: Int64
    let claimConflict: String
    let createdAt: WireTime

    /// The columns are in the order of the members. The effective values have no columns; they follow from the others.
    init(from row: inout Row) throws {
        id = try row.read()
        teamID = try row.read()
        name = try row.read()
        slug = try row.read()
        color = try row.read()
        let events = try row.read(Int?.self)
        let metrics = try row.read(Int?.self)
        let funnels = try row.read(Int?.self)
        (retentionDaysEvents, retentionDaysMetrics, retentionDaysFunnels) = (events, metrics, funnels)
        effectiveRetentionDaysEvents = events ?? EventTable.events.defaultRetentionDays
        effectiveRetentionDaysMetrics = metrics ?? EventTable.metricEvents.defaultRetentionDays
        effectiveRetentionDaysFunnels = funnels ?? EventTable.funnelEvents.defaultRetentionDays
        let (user, project) = (try row.read(Int64?.self), try row.read(Int64?.self))
        (attachmentUserQuotaBytes, attachmentProjectQuotaBytes) = (user, project)
        let quotas = AttachmentQuota.effective(user: user, project: project)
        effectiveAttachmentUserQuotaBytes = quotas.user.limit
        effectiveAttachmentProjectQuotaBytes = quotas.project.limit
        claimConflict = try row.read()
        createdAt = try row.read()
    }
}
