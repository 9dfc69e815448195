import ArgumentParser

struct UserCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user", abstract: "Shows, exports, merges and restores accounts, and gives them roles.",
        subcommands: [
            ShowUser.self, ExportUser.self, SetRoleCommand.self, MergeUsers.self, RestoreUserCommand.self,
        ])
}
