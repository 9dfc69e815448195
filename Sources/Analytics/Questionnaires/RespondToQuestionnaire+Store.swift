import JSON
import MariaDB

/// The columns that a save writes. A later save overwrites all columns but the id, the user and the creation time.
struct ResponseContent {
    let answers: JSONObject
    /// Set if the response is complete.
    let snapshot: QuestionnaireSchema?
    let sessionID: UUID?
    let client: ClientMetadata
    let country: String?

    fileprivate var answersText: String { String(decoding: JSONValue.object(answers).json(), as: UTF8.self) }
    fileprivate var status: String { snapshot == nil ? "draft" : "new" }
}

extension AnalyticsTransaction {
    /// The live response of a user whose record is locked.
    func lockResponse(
        of owner: Record.ID, to slug: Questionnaire.Slug, in project: Project.ID
    ) throws -> QuestionnaireResponse? {
        try connection.first(
            """
            SELECT id, answers, submitted_at IS NOT NULL, created_at
            FROM questionnaire_responses
            WHERE project_id = ? AND slug = ? AND app_user_id = ? AND is_live = TRUE
            FOR UPDATE
            """, project, slug, owner
        ) { row in try QuestionnaireResponse(from: &row) }
    }

    func insertResponse(
        _ id: QuestionnaireResponse.ID, _ content: ResponseContent, of owner: Record.ID?,
        to questionnaire: Questionnaire, from app: App
    ) throws {
        let client = content.client
        try connection.execute(
            """
            INSERT INTO questionnaire_responses (id, questionnaire_id, slug, app_id, project_id, session_id, app_user_id,
                                                 answers, schema_snapshot, submitted_at, status, is_dev, environment,
                                                 os_version, app_version, sdk_name, sdk_version, device_model,
                                                 country_code, created_at, updated_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, id, questionnaire.id, questionnaire.slug, app.id, app.project.id, content.sessionID, owner,
            content.answersText, content.snapshot?.text, content.snapshot.map { _ in now }, content.status,
            client.isDev, client.environment, client.osVersion, client.appVersion, client.sdkName, client.sdkVersion,
            client.deviceModel, content.country, now, now)
    }

    func updateResponse(
        _ id: QuestionnaireResponse.ID, _ content: ResponseContent, to questionnaire: Questionnaire, from app: App
    ) throws {
        let client = content.client
        try connection.execute(
            """
            UPDATE questionnaire_responses
            SET questionnaire_id = ?, app_id = ?, session_id = ?, answers = ?, schema_snapshot = ?, submitted_at = ?,
                status = ?, is_dev = ?, environment = ?, os_version = ?, app_version = ?, sdk_name = ?, sdk_version = ?,
                device_model = ?, country_code = ?, updated_at = ?
            WHERE id = ?
            """, questionnaire.id, app.id, content.sessionID, content.answersText, content.snapshot?.text,
            content.snapshot.map { _ in now }, content.status, client.isDev, client.environment, client.osVersion,
            client.appVersion, client.sdkName, client.sdkVersion, client.deviceModel, content.country, now, id)
    }
}
