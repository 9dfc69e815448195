import Analytics
import HTTP
import JSON
import Time

private struct DismissalReply: Encodable {
    var dismissedAt: String
}

/// `POST /v1/questionnaires/dismiss` (analytics §12).
@Sendable func dismissQuestionnaires(_ call: Call, _ key: APIKey) throws -> Response {
    let fields = try call.fields()
    let app = try key.questionnaireApp(bundleID: fields["bundle_id"]?.string)
    guard let userID = try fields.userID() else {
        throw Refusal.invalid("user_id is required to dismiss questionnaires")
    }
    let dismissedAt = try call.analytics.dismissQuestionnaires(for: userID, in: app, call.database)
    return .json(.ok, DismissalReply(dismissedAt: dismissedAt.iso8601Milliseconds))
}
