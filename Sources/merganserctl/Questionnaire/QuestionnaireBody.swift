import Analytics
import JSON
import Time

struct QuestionnaireBody: Encodable {
    let id: Questionnaire.ID
    let projectID: Project.ID
    @Nullable var appID: App.ID?
    let slug: String
    let name: String
    @Nullable var description: String?
    let schema: JSONValue
    let isActive: Bool
    let createdAt: String

    init(_ questionnaire: QuestionnaireSummary) {
        let definition = questionnaire.definition
        id = questionnaire.id
        projectID = questionnaire.project
        appID = questionnaire.app
        slug = definition.slug.rawValue
        name = definition.name
        description = definition.description
        schema = definition.schema.json
        isActive = definition.isActive
        createdAt = questionnaire.createdAt.iso8601Milliseconds
    }
}
