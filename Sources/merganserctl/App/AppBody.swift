import Analytics
import JSON

struct AppBody: Encodable {
    let id: App.ID
    let teamID: Team.ID
    let projectID: Project.ID
    let name: String
    let platform: String
    @Nullable var bundleID: String?
    let createdAt: String

    init(_ app: AppSummary) {
        id = app.id
        teamID = app.team
        projectID = app.project
        name = app.name
        platform = app.platform.rawValue
        bundleID = app.bundleID
        createdAt = app.createdAt.iso8601Milliseconds
    }

    private enum CodingKeys: String, CodingKey {
        case id
        case teamID = "team_id"
        case projectID = "project_id"
        case name, platform
        case bundleID = "bundle_id"
        case createdAt = "created_at"
    }
}
