import Analytics
import HTTP

/// `GET /v1/apps/:id/users` (analytics §13.2).
@Sendable func listUsersOfApp(_ call: Call, _ key: APIKey) throws -> Response {
    let query = call.queryParameters
    let page = try call.analytics.endUsers(
        ofApp: call.arguments[0], try call.endUserFilter(), after: query.cursor(), limit: query.limit, of: key.team,
        call.database)
    return .json(.ok, AppUsersReply(page))
}
