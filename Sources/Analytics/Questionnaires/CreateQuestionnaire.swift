import MariaDB
package import Time

/// A questionnaire as an operator sees it.
package struct QuestionnaireSummary: Sendable {
    package var id: Questionnaire.ID
    package var project: Project.ID
    /// The only app that shows it; nil for every app of the project.
    package var app: App.ID?
    package var definition: QuestionnaireDefinition
    package var createdAt: Timestamp
}

extension AnalyticsTransaction {
    /// - Parameter app: the only app that shows it; nil for every app of the project.
    package func createQuestionnaire(
        _ definition: QuestionnaireDefinition, project: Project.ID, app: App.ID? = nil
    ) throws -> QuestionnaireSummary {
        guard try connection.project(project) != nil else { throw OperatorError.noProject(project) }
        if let app, try !connection.apps(project: project).contains(where: { $0.id == app }) {
            throw OperatorError(
                "the project has no app \(app); `merganserctl app list --project \(project)` shows those it has")
        }
        let questionnaire = QuestionnaireSummary(
            id: Questionnaire.ID(at: now), project: project, app: app, definition: definition, createdAt: now)
        do {
            try connection.execute(
                """
                INSERT INTO questionnaires (id, project_id, app_id, slug, name, description, `schema`, is_active,
                                            created_at, updated_at)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """, questionnaire.id, project, app, definition.slug, definition.name, definition.description,
                definition.schema.text, definition.isActive, now, now)
        } catch {
            guard error.duplicateKey == "questionnaires_live_slug" else { throw error }
            throw OperatorError(
                "the project has a questionnaire with the slug \"\(definition.slug.rawValue)\" already; choose another one"
            )
        }
        return questionnaire
    }
}
