import ArgumentParser

struct TeamCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "team", abstract: "Creates and lists teams, which own projects.",
        subcommands: [CreateTeamCommand.self, ListTeams.self])
}
