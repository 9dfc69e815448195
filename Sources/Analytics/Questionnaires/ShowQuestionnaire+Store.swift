import MariaDB
import Time

/// A questionnaire, and what is stored about one end user's relation to it.
struct QuestionnaireStanding {
    let questionnaire: Questionnaire
    let hasDismissed: Bool
    /// The user's live response.
    let response: QuestionnaireResponse?
}

extension Connection {
    /// - Returns: nil if there is no such questionnaire.
    func standing(
        of userID: EndUserID?, towards slug: Questionnaire.Slug, in app: App
    ) throws -> QuestionnaireStanding? {
        try first(
            """
            SELECT q.id, q.slug, q.name, q.description, q.`schema`, q.is_active, u.properties,
                   r.id, r.answers, r.submitted_at IS NOT NULL, r.created_at
            FROM questionnaires q
            LEFT JOIN app_users u ON u.id = COALESCE(
                (SELECT c.app_user_id FROM identity_claims c
                 WHERE c.project_id = ? AND c.anonymous_id = ? ORDER BY c.claimed_at DESC LIMIT 1),
                (SELECT COALESCE(n.merged_into, n.id) FROM app_users n WHERE n.project_id = ? AND n.user_id = ?))
            LEFT JOIN questionnaire_responses r
                ON r.project_id = q.project_id AND r.slug = q.slug AND r.app_user_id = u.id AND r.is_live = TRUE
            WHERE q.project_id = ? AND q.live_slug = ? AND (q.app_id IS NULL OR q.app_id = ?)
            """, app.project.id, userID, app.project.id, userID, app.project.id, slug, app.id
        ) { row in
            let questionnaire = try Questionnaire(from: &row)
            let properties = try Properties(stored: try row.read())
            return QuestionnaireStanding(
                questionnaire: questionnaire, hasDismissed: properties.haveDismissedQuestionnaires,
                response: try QuestionnaireResponse(fromOuter: &row))
        }
    }
}

extension QuestionnaireResponse {
    /// Nil if the outer join found no row.
    fileprivate init?(fromOuter row: inout Row) throws {
        let (id, answers) = (try row.read(ID?.self), try row.read(String?.self))
        let (isSubmitted, createdAt) = (try row.read(Bool.self), try row.read(Timestamp?.self))
        guard let id, let answers, let createdAt else { return nil }
        self.init(id: id, answers: try Self.object(stored: answers), isSubmitted: isSubmitted, createdAt: createdAt)
    }
}
