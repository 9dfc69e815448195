import Analytics
import HTTP
import Text

extension Call {
    /// Reads the filters that the list of events and their count share.
    func eventFilter() throws(Refusal) -> EventFilter {
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
