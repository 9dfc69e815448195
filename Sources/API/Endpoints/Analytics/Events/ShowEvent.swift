import Analytics
import HTTP

/// `GET /v1/events/:id` (analytics §13.1).
@Sendable func showEvent(_ call: Call, _ key: APIKey) throws -> Response {
    .json(.ok, try call.analytics.event(call.arguments[0], of: key.team, call.database))
}
