import Analytics
import HTTP
import JSON
import Text
import Time

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

/// `GET /v1/events/count` (analytics §13.1).
@Sendable func countEvents(_ call: Call, _ key: APIKey) throws -> Response {
    .json(.ok, try call.analytics.countEvents(try call.eventFilter(), of: key.team, call.database))
}

/// `GET /v1/events/:id` (analytics §13.1).
@Sendable func showEvent(_ call: Call, _ key: APIKey) throws -> Response {
    .json(.ok, try call.analytics.event(call.arguments[0], of: key.team, call.database))
}

extension Call {
    /// Reads the filters that the list of events and their count share.
    fileprivate func eventFilter() throws(Refusal) -> EventFilter {
        let (query, now) = (queryParameters, analytics.clock.now)
        var filter = EventFilter(query.scope)
        if let levels = query["level"] { try filter.setLevels(levels) }
        filter.user = query["user_id"].map(EndUserID.init(rawValue:))
        if let session = query["session_id"] { filter.setSession(session) }
        filter.environment = query["environment"]
        filter.screenName = query["screen_name"]
        filter.since = try query.time("since", now: now)
        filter.until = try query.time("until", now: now)
        filter.dataMode = query.dataMode ?? .production
        return filter
    }
}
