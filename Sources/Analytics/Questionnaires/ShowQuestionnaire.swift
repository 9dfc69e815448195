package import Database

/// Whether an app should show a questionnaire to an end user (analytics §12).
package enum QuestionnaireOffer: Sendable {
    /// Why not.
    package enum Reason: String, Sendable {
        case inactive
        case globallyDismissed = "globally_dismissed"
        case alreadyResponded = "already_responded"
    }

    case ineligible(Reason)
    /// The draft has the user's answers so far.
    case eligible(Questionnaire, draft: QuestionnaireResponse?)
}

extension Analytics {
    /// `GET /v1/questionnaires/:slug`. One statement, so that a concurrent claim shows either completely or not at all.
    ///
    /// - Parameter isForced: whether to offer the questionnaire to a user who has dismissed or answered it.
    package func offer(
        of slug: String, to userID: EndUserID?, isForced: Bool, in app: App, _ database: Database
    ) throws -> QuestionnaireOffer {
        guard let slug = Questionnaire.Slug(rawValue: slug),
            let standing = try database.read({ try $0.standing(of: userID, towards: slug, in: app) })
        else { throw Questionnaire.notFound }
        guard standing.questionnaire.isActive else { return .ineligible(.inactive) }
        if !isForced {
            if standing.hasDismissed { return .ineligible(.globallyDismissed) }
            if standing.response?.isSubmitted == true { return .ineligible(.alreadyResponded) }
        }
        let draft = standing.response.flatMap { $0.isSubmitted ? nil : $0 }
        return .eligible(standing.questionnaire, draft: draft)
    }
}

extension Properties {
    /// Whether this user has dismissed all questionnaires.
    var haveDismissedQuestionnaires: Bool { self[Self.dismissedAt]?.isEmpty == false }
}
