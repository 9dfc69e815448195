import ArgumentParser

struct UserCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user", abstract: "Shows accounts and gives them roles.",
        subcommands: [ShowUser.self, SetRoleCommand.self])
}
