import ArgumentParser

struct AppCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app", abstract: "Creates and lists apps, which send what a project keeps.",
        subcommands: [CreateAppCommand.self, ListApps.self])
}
