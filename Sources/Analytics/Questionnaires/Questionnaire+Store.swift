import MariaDB

extension Questionnaire {
    init(from row: inout Row) throws {
        id = try row.read()
        slug = try row.read()
        name = try row.read()
        description = try row.read()
        schema = try QuestionnaireSchema(stored: try row.read())
        isActive = try row.read()
    }
}

extension Connection {
    /// A live definition of the app's project, unless it belongs to another app only.
    func questionnaire(_ slug: Questionnaire.Slug, for app: App) throws -> Questionnaire? {
        try first(
            """
            SELECT id, slug, name, description, `schema`, is_active
            FROM questionnaires
            WHERE project_id = ? AND live_slug = ? AND (app_id IS NULL OR app_id = ?)
            """, app.project.id, slug, app.id
        ) { row in try Questionnaire(from: &row) }
    }
}
