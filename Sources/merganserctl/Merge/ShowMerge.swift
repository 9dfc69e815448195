import AccountReplies
import Accounts
import ArgumentParser
import Database

struct ShowMerge: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "show", abstract: "Shows one merge or swap.")

    @Argument(help: "The id that `merge list` shows: 7 of a merge, s12 of a swap.")
    var id: MergeID

    @OptionGroup var output: Output

    func run() throws {
        guard let merge = try Environment.database().read({ try $0.merge(id) }) else { throw ToolError(unknown: id) }
        output.print(ListedMergeReply(merge), merge.words)
    }
}
