import AccountReplies
import Accounts
import ArgumentParser
import Database

struct ShowUser: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Shows one account and everything that belongs to it; shows no secrets.")

    @Argument(help: "The user's id.")
    var id: Int64

    @OptionGroup var output: Output

    func run() throws {
        guard let user = try Environment.database().snapshot({ try $0.userSummary(User.ID(rawValue: id)) }) else {
            throw ToolError(.notFound, "there is no user \(id); a swap deletes the anonymous account that it moves")
        }
        let reply = UserSummaryReply(user)
        output.print(reply, reply.words)
    }
}
