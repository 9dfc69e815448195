import ArgumentParser

struct UserCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user", abstract: "Shows accounts, gives them roles, and merges them.",
        subcommands: [ShowUser.self, SetRoleCommand.self, MergeUsers.self])
}
