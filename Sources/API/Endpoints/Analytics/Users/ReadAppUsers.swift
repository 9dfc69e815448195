import Analytics
import HTTP
import JSON
import Text
import Time

/// A page of a list of end users (analytics §13.2).
private struct AppUsersReply: Encodable {
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

/// `GET /v1/apps/:id/users` (analytics §13.2).
@Sendable func listUsersOfApp(_ call: Call, _ key: APIKey) throws -> Response {
    let query = call.queryParameters
    let page = try call.analytics.endUsers(
        ofApp: call.arguments[0], try call.endUserFilter(), after: query.cursor(), limit: query.limit, of: key.team,
        call.database)
    return .json(.ok, AppUsersReply(page))
}

/// `GET /v1/app-users/:id` (analytics §13.2).
@Sendable func showAppUser(_ call: Call, _ key: APIKey) throws -> Response {
    .json(.ok, try call.analytics.endUser(call.arguments[0], of: key.team, call.database))
}

extension Call {
    /// Reads the filters that all lists of end users share.
    fileprivate func endUserFilter() throws(Refusal) -> EndUserFilter {
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
