import Analytics
import HTTP

/// `GET /v1/app-users` (analytics §13.2).
@Sendable func listAppUsers(_ call: Call, _ key: APIKey) throws -> Response {
    let query = call.queryParameters
    let page = try call.analytics.endUsers(
        try call.endUserFilter(), after: query.cursor(), limit: query.limit, of: key.team, call.database)
    return .json(.ok, AppUsersReply(page))
}
