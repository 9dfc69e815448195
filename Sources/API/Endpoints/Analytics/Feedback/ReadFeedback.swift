import Analytics
import HTTP
import JSON

/// A page of a list of feedback (analytics §13.3).
private struct FeedbackPageReply: Encodable {
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

/// `GET /v1/projects/:id/feedback` (analytics §13.3).
@Sendable func listFeedbackOfProject(_ call: Call, _ key: APIKey) throws -> Response {
    let query = call.queryParameters
    let page = try call.analytics.feedback(
        ofProject: call.arguments[0], call.feedbackFilter, after: query.cursor(), limit: query.limit, of: key.team,
        call.database)
    return .json(.ok, FeedbackPageReply(page))
}

extension Call {
    /// Reads the filters that all lists of feedback share.
    fileprivate var feedbackFilter: FeedbackFilter {
        let query = queryParameters
        var filter = FeedbackFilter(query.scope)
        filter.status = query["status"]
        filter.isDev = query.bool("is_dev")
        filter.dataMode = query.dataMode
        return filter
    }
}
