import MariaDB

extension AnalyticsTransaction {
    /// Gives a real record the live responses of an anonymous record; both are locked (analytics §5, "Questionnaire
    /// responses in a merge"). For each slug, the real record's own response stays. The anonymous one is then
    /// soft-deleted under the anonymous id. Always takes two statements.
    package func mergeQuestionnaireResponses(of anonymous: Record, into real: Record) throws {
        try connection.executeLater(
            """
            UPDATE questionnaire_responses a FORCE INDEX (questionnaire_responses_user)
            STRAIGHT_JOIN questionnaire_responses r FORCE INDEX (questionnaire_responses_live)
                ON r.project_id = a.project_id AND r.slug = a.slug AND r.app_user_id = ? AND r.is_live = TRUE
            SET a.deleted_at = ?, a.updated_at = ?, a.frozen_user_id = ?, a.app_user_id = NULL
            WHERE a.app_user_id = ? AND a.deleted_at IS NULL
            """, real.id, now, now, anonymous.userID, anonymous.id)
        try connection.executeLater(
            """
            UPDATE questionnaire_responses FORCE INDEX (questionnaire_responses_user) SET app_user_id = ?
            WHERE app_user_id = ? AND deleted_at IS NULL
            """, real.id, anonymous.id)
    }
}
