import ArgumentParser

struct AnonymousCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "anonymous", abstract: "Deletes anonymous accounts that nobody uses.",
        subcommands: [PruneCommand.self])
}
