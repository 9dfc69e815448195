import Analytics
import HTTP
import Text

extension Call {
    /// Reads the filters that all lists of end users share.
    func endUserFilter() throws(Refusal) -> EndUserFilter {
        let (query, now) = (queryParameters, analytics.clock.now)
        var filter = EndUserFilter(query.scope)
        filter.search = query["search"]
        filter.isAnonymous = query.bool("is_anonymous")
        if let statuses = query["billing_status"] { filter.setBilling(statuses) }
        filter.dataMode = query.dataMode ?? .production
        filter.since = try query.time("since", now: now)
        filter.until = try query.time("until", now: now)
        filter.sort = query["sort"].flatMap(EndUserFilter.SortKey.init(bytes:)) ?? .lastSeen
        return filter
    }
}
