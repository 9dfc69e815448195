import AccountReplies
import Accounts
import ArgumentParser
import Database

struct ShowMerge: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "show", abstract: "Shows one merge.")

    @Argument(help: "The merge's id.")
    var id: Int64

    @OptionGroup var output: Output

    func run() throws {
        guard let merge = try Environment.database().read({ try $0.merge(IdentityLink.ID(rawValue: id)) }) else {
            throw ToolError(.notFound, "there is no merge \(id); `merganserctl merge list` shows them")
        }
        let reply = ListedMergeReply(merge)
        output.print(reply, reply.words)
    }
}
