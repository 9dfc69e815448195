import ArgumentParser

struct QuestionnaireCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "questionnaire", abstract: "Creates questionnaires, which apps ask their users.",
        subcommands: [CreateQuestionnaireCommand.self])
}
