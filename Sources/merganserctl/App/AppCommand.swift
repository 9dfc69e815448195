import ArgumentParser

struct AppCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app", abstract: "Creates and lists apps, which send events to a project.",
        subcommands: [CreateAppCommand.self, ListApps.self])
}
