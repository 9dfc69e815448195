import ArgumentParser

struct ApplicationCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "application", abstract: "Registers and shows relying parties.",
        subcommands: [CreateApplicationCommand.self, ListApplications.self, ShowApplication.self])
}
