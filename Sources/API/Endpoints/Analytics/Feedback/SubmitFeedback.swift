import Analytics
import HTTP
import JSON
import Time

private struct FeedbackReply: Encodable {
    var id: Feedback.ID
    var createdAt: String
}

/// `POST /v1/feedback` (analytics §10).
@Sendable func submitFeedback(_ call: Call, _ key: APIKey) throws -> Response {
    let fields = try call.fields()
    guard key.kind == .client else { throw Refusal.forbidden("Client key required for feedback ingest") }
    let app = try key.ingestApp()
    try app.check(bundleID: fields["bundle_id"]?.string)
    let feedback = try Feedback(fields, for: app.platform)
    let submitted = try call.analytics.submit(feedback, from: app, country: call.country(for: app), call.database)
    return .json(
        .created, FeedbackReply(id: submitted.id, createdAt: submitted.createdAt.iso8601Milliseconds))
}
