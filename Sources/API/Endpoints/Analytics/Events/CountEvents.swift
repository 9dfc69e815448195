import Analytics
import HTTP

/// `GET /v1/events/count` (analytics §13.1).
@Sendable func countEvents(_ call: Call, _ key: APIKey) throws -> Response {
    .json(.ok, try call.analytics.countEvents(try call.eventFilter(), of: key.team, call.database))
}
