import Analytics
import HTTP
import JSON

struct FeedbackPageReply: Encodable {
    var feedback: [ListedFeedback]
    @Nullable var cursor: String?
    var hasMore: Bool

    init(_ page: Page<ListedFeedback>) {
        feedback = page.rows
        cursor = page.cursor
        hasMore = page.hasMore
    }
}

/// `GET /v1/feedback` (analytics §13.3).
@Sendable func listFeedback(_ call: Call, _ key: APIKey) throws -> Response {
    let query = call.queryParameters
    let page = try call.analytics.feedback(
        call.feedbackFilter, after: query.cursor(), limit: query.limit, of: key.team, call.database)
    return .json(.ok, FeedbackPageReply(page))
}

extension Call {
    /// The filters that all lists of feedback share.
    var feedbackFilter: FeedbackFilter {
        let query = queryParameters
        var filter = FeedbackFilter(query.scope)
        filter.status = query["status"]
        filter.isDev = query.bool("is_dev")
        filter.dataMode = query.dataMode
        return filter
    }
}
