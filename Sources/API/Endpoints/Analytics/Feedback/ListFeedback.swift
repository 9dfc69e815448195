import Analytics
import HTTP

/// `GET /v1/feedback` (analytics §13.3).
@Sendable func listFeedback(_ call: Call, _ key: APIKey) throws -> Response {
    let query = call.queryParameters
    let page = try call.analytics.feedback(
        call.feedbackFilter, after: query.cursor(), limit: query.limit, of: key.team, call.database)
    return .json(.ok, FeedbackPageReply(page))
}
