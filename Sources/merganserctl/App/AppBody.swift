import Analytics
import JSON
import Time

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
}
