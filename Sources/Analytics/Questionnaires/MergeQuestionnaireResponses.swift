import MariaDB

extension AnalyticsTransaction {
    /// Gives a real record the live responses of an anonymous record; both are locked (analytics §5, "Questionnaire
    /// responses in a merge"). For each slug, the real record's own response stays. The anonymous one is then
    /// soft-deleted under the anonymous id. Always takes two statements.
    package func mergeQuestionnaireResponses(of anonymous: Record, into real: Record) throws {
        // A second live response of one user and slug would be a duplicate, so it is left behind. Nothing else can be wrong with a
        // row: the real record exists, since it is locked. A join with the real record's responses would take three times as long,
        // because MariaDB makes a temporary table for it.
        try connection.executeLater(
            """
            UPDATE IGNORE questionnaire_responses FORCE INDEX (questionnaire_responses_user) SET app_user_id = ?
            WHERE app_user_id = ? AND deleted_at IS NULL
            """, real.id, anonymous.id)
        try connection.executeLater(
            """
            UPDATE questionnaire_responses FORCE INDEX (questionnaire_responses_user)
            SET deleted_at = ?, updated_at = ?, frozen_user_id = ?, app_user_id = NULL
            WHERE app_user_id = ? AND deleted_at IS NULL
            """, now, now, anonymous.userID, anonymous.id)
    }

    /// Soft-deleted responses keep the record's present id forever (analytics §5, step 3).
    func freezeDeletedResponses(of record: Record) throws {
        try connection.executeLater(
            """
            UPDATE questionnaire_responses FORCE INDEX (questionnaire_responses_user)
            SET frozen_user_id = ?, app_user_id = NULL
            WHERE app_user_id = ? AND deleted_at IS NOT NULL
            """, record.userID, record.id)
    }
}
