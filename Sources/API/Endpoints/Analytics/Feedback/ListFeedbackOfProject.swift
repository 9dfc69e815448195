import Analytics
import HTTP

/// `GET /v1/projects/:id/feedback` (analytics §13.3).
@Sendable func listFeedbackOfProject(_ call: Call, _ key: APIKey) throws -> Response {
    let query = call.queryParameters
    let page = try call.analytics.feedback(
        ofProject: call.arguments[0], call.feedbackFilter, after: query.cursor(), limit: query.limit, of: key.team,
        call.database)
    return .json(.ok, FeedbackPageReply(page))
}
