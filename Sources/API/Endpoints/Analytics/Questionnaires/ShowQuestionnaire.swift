import Analytics
import HTTP
import JSON

private struct IneligibleReply: Encodable {
    var eligible = false
    var reason: String
}

private struct OfferReply: Encodable {
    struct Definition: Encodable {
        var id: Questionnaire.ID
        var slug: String
        var name: String
        @Nullable var description: String?
        var schema: JSONValue
    }

    struct Draft: Encodable {
        var responseID: QuestionnaireResponse.ID
        var answers: JSONValue
    }

    var eligible = true
    var questionnaire: Definition
    var inProgress: Draft?
}

/// `GET /v1/questionnaires/:slug` (analytics §12).
@Sendable func showQuestionnaire(_ call: Call, _ key: APIKey) throws -> Response {
    let query = call.queryParameters
    let app = try key.questionnaireApp(bundleID: query["bundle_id"])
    let offer = try call.analytics.offer(
        of: call.arguments[0], to: try EndUserID(named: query["user_id"]), isForced: query.bool("force") == true,
        in: app,
        call.database)
    switch offer {
    case .ineligible(let reason): return .json(.ok, IneligibleReply(reason: reason.rawValue))
    case .eligible(let questionnaire, let draft):
        return .json(
            .ok,
            OfferReply(
                questionnaire: OfferReply.Definition(
                    id: questionnaire.id, slug: questionnaire.slug.rawValue, name: questionnaire.name,
                    description: questionnaire.description, schema: questionnaire.schema.json),
                inProgress: draft.map { OfferReply.Draft(responseID: $0.id, answers: .object($0.answers)) }))
    }
}
