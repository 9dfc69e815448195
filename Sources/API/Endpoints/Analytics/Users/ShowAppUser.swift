import Analytics
import HTTP

/// `GET /v1/app-users/:id` (analytics §13.2).
@Sendable func showAppUser(_ call: Call, _ key: APIKey) throws -> Response {
    .json(.ok, try call.analytics.endUser(call.arguments[0], of: key.team, call.database))
}
