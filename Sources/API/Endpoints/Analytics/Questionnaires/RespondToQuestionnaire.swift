import Analytics
import HTTP
import JSON
import Time

private struct ResponseReply: Encodable {
    var id: QuestionnaireResponse.ID
    var createdAt: String
    var wasSubmitted: Bool
}

/// `POST /v1/questionnaires/:slug/responses` (analytics §12).
@Sendable func respondToQuestionnaire(_ call: Call, _ key: APIKey) throws -> Response {
    let fields = try call.fields()
    let app = try key.questionnaireApp(bundleID: fields["bundle_id"]?.string)
    let saved = try call.analytics.respond(
        to: call.arguments[0], fields, from: try fields.userID(), in: app, country: call.country(for: app),
        call.database)
    return .json(
        saved.isFirst ? .created : .ok,
        ResponseReply(
            id: saved.id, createdAt: saved.createdAt.iso8601Milliseconds, wasSubmitted: saved.wasSubmitted))
}
