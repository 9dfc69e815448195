package import Database
package import JSON
package import Time

/// The result of one save.
package struct SavedResponse: Sendable {
    package let id: QuestionnaireResponse.ID
    package let createdAt: Timestamp
    /// Whether the save created the response.
    package let isFirst: Bool
    /// Whether the save completed the response.
    package let wasSubmitted: Bool
}

extension Analytics {
    /// `POST /v1/questionnaires/:slug/responses` (analytics §12): saves answers over the user's live draft, and
    /// completes the response if the request says so.
    ///
    /// - Throws: the first check that fails. Nothing is saved then.
    package func respond(
        to slug: String, _ body: JSONObject, from userID: EndUserID?, in app: App, country: String?,
        _ database: Database
    ) throws -> SavedResponse {
        guard let slug = Questionnaire.Slug(rawValue: slug) else { throw Questionnaire.notFound }
        return try write(database) { transaction in
            guard let questionnaire = try transaction.connection.questionnaire(slug, for: app) else {
                throw Questionnaire.notFound
            }
            guard questionnaire.isActive else { throw QuestionnaireOffer.Reason.inactive.refusal }
            let sessionID = try body.sessionID()
            let isComplete = body["is_complete"] == true
            let client = ClientMetadata(body)
            // Locked before the draft is read, so saves of one user run one after the other.
            let owner = try userID.map { id in
                try transaction.lockOwner(of: id, in: app.project.id, making: client.newRecord(for: app.platform))
            }
            if isComplete, try owner?.readProperties().haveDismissedQuestionnaires == true {
                throw QuestionnaireOffer.Reason.globallyDismissed.refusal
            }
            let draft = try owner.flatMap { try transaction.lockResponse(of: $0.id, to: slug, in: app.project.id) }
            if draft?.isSubmitted == true { throw QuestionnaireOffer.Reason.alreadyResponded.refusal }
            let answered = try questionnaire.schema.check(body["answers"])
            var answers = draft?.answers.merged(with: answered) ?? answered
            if isComplete { answers = try questionnaire.schema.complete(answers) }
            try client.check(for: app.platform)

            let id = draft?.id ?? QuestionnaireResponse.ID(at: transaction.now)
            let content = ResponseContent(
                answers: answers, snapshot: isComplete ? questionnaire.schema : nil, sessionID: sessionID,
                client: client, country: country)
            if draft == nil {
                try transaction.insertResponse(id, content, of: owner?.id, to: questionnaire, from: app)
            } else {
                try transaction.updateResponse(id, content, to: questionnaire, from: app)
            }
            return SavedResponse(
                id: id, createdAt: draft?.createdAt ?? transaction.now, isFirst: draft == nil,
                wasSubmitted: isComplete)
        }
    }
}

extension QuestionnaireOffer.Reason {
    /// The refusal for invalid answers.
    fileprivate var refusal: Refusal {
        let text =
            switch self {
            case .inactive: "Questionnaire is not accepting responses"
            case .globallyDismissed: "Questionnaires globally dismissed"
            case .alreadyResponded: "Already responded"
            }
        return .conflict(text, reason: rawValue)
    }
}
