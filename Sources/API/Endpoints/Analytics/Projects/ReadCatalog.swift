import Analytics
import HTTP

private struct ProjectsReply: Encodable {
    var projects: [ListedProject]
}

/// `GET /v1/projects` (analytics §13.3).
@Sendable func listProjects(_ call: Call, _ key: APIKey) throws -> Response {
    let scope = ReadScope(team: call.queryParameters["team_id"])
    return .json(.ok, ProjectsReply(projects: try call.analytics.projects(scope, of: key.team, call.database)))
}

private struct AppsReply: Encodable {
    var apps: [ListedApp]
}

/// `GET /v1/apps` (analytics §13.3).
@Sendable func listApps(_ call: Call, _ key: APIKey) throws -> Response {
    let scope = ReadScope(team: call.queryParameters["team_id"])
    return .json(.ok, AppsReply(apps: try call.analytics.apps(scope, of: key.team, call.database)))
}
