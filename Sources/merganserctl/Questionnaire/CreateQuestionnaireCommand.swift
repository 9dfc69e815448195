import Analytics
import ArgumentParser
import FoundationEssentials
import JSON

struct CreateQuestionnaireCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Creates a questionnaire from a file; apps may ask it at once.",
        discussion: """
            The file holds one JSON object: "slug" (a-z 0-9 -), "name", optionally "description" and "is_active", and \
            "schema": {"version": 1, "questions": […]} with 1 to 30 questions. Each has "id" (a-z 0-9 _), "type", \
            "title", "required", and optionally "subtitle". Types: "text" (optionally "placeholder", "multiline"), \
            "single_choice" and "multi_choice" ("options": 2 to 20 of {"id", "label"}), "rating" ("scale": 5) and "nps".
            """)

    @Option(
        help: ArgumentHelp("The project whose users are asked.", valueName: "project-id"),
        transform: identifier(listedBy: "project list"))
    var project: Project.ID

    @Option(
        help: ArgumentHelp("The only app that asks it. (default: all apps of the project)", valueName: "app-id"),
        transform: identifier(listedBy: "app list"))
    var app: App.ID?

    @Argument(help: "The file with the definition.")
    var file: String

    @OptionGroup var output: Output

    func run() throws {
        let definition = try readDefinition()
        let created = try Analytics.write(Environment.database()) {
            try $0.createQuestionnaire(definition, project: project, app: app)
        }
        output.print(QuestionnaireBody(created), "questionnaire  \(created.id)")
    }

    private func readDefinition() throws -> QuestionnaireDefinition {
        guard let bytes = FileManager.default.contents(atPath: file) else {
            throw ToolError(.refused, "\(file) cannot be read; name a file that holds the definition")
        }
        do {
            return try QuestionnaireDefinition(try JSONValue(json: Array(bytes)))
        } catch let error as JSONError {
            throw ToolError(.refused, "\(file) is not JSON: \(error)")
        } catch let error as InvalidQuestionnaire {
            var refusal = ToolError(.refused, "\(file) does not define a questionnaire")
            refusal.problems = error.faults
            throw refusal
        }
    }
}
