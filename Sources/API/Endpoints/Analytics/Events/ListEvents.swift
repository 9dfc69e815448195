import Analytics
import HTTP
import JSON
import Text

private struct EventsReply: Encodable {
    var events: [ListedEvent]
    @Nullable var cursor: String?
    var hasMore: Bool
}

/// `GET /v1/events` (analytics §13.1).
@Sendable func listEvents(_ call: Call, _ key: APIKey) throws -> Response {
    let query = call.queryParameters
    let page = try call.analytics.events(
        try call.eventFilter(), query["order"].flatMap(ListOrder.init(bytes:)) ?? .descending, after: query.cursor(),
        limit: query.limit, of: key.team, call.database)
    return .json(.ok, EventsReply(events: page.rows, cursor: page.cursor, hasMore: page.hasMore))
}
