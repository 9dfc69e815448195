import Analytics
import HTTP
import JSON
import Text

struct AppUsersReply: Encodable {
    var users: [ListedEndUser]
    @Nullable var cursor: String?
    var hasMore: Bool

    init(_ page: Page<ListedEndUser>) {
        users = page.rows
        cursor = page.cursor
        hasMore = page.hasMore
    }
}

/// `GET /v1/app-users` (analytics §13.2).
@Sendable func listAppUsers(_ call: Call, _ key: APIKey) throws -> Response {
    let query = call.queryParameters
    let page = try call.analytics.endUsers(
        try call.endUserFilter(), after: query.cursor(), limit: query.limit, of: key.team, call.database)
    return .json(.ok, AppUsersReply(page))
}

extension Call {
    /// The filters that all lists of end users share.
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
