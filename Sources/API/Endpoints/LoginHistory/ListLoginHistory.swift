import Accounts
import Database
import HTTP
import JSON
import Time

private struct LoginHistoryReply: Encodable {
    struct Event: Encodable {
        var id: LoggedEvent.ID
        var event: String
        @Nullable var provider: String?
        @Nullable var ip: String?
        @Nullable var userAgent: String?
        @Nullable var platform: String?
        var createdAt: String
    }

    var loginEvents: [Event]
    @Nullable var nextCursor: String?

    init(_ page: LoginHistoryPage) {
        loginEvents = page.events.map { event in
            Event(
                id: event.id, event: event.event, provider: event.provider, ip: event.address,
                userAgent: event.userAgent, platform: event.platform, createdAt: event.createdAt.iso8601)
        }
        nextCursor = page.nextCursor
    }
}

/// `GET /api/v1/me/login_history` (accounts §4.3): the caller's sign-ins and their refusals, newest first.
@Sendable func listLoginHistory(_ call: Call, _ caller: Caller) throws -> Response {
    let query = call.queryParameters
    let limit = try query.pageLimit(atMost: LoginHistoryPage.largestLimit) ?? LoginHistoryPage.defaultLimit
    let page = try call.database.read {
        try call.accounts.loginHistory(of: caller.id, before: query["before"], limit: limit, $0)
    }
    return .json(.ok, LoginHistoryReply(page))
}
