import AccountReplies
import Accounts
import ArgumentParser
import Database
import JSON

struct ListMerges: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists merges and swaps, the newest first.",
        discussion: """
            If there are more, the last line names the id to continue before. The id of a swap begins with an s. A swap, \
            and a merge that was undone, are listed until MERGANSER_UNDO_DAYS are over. A merge into an account that was \
            absorbed later is one into the survivor.
            """)

    @Option(help: "Only those that this user survived or was absorbed by.")
    var user: Int64?

    @Option(help: ArgumentHelp("Only merges and swaps older than this one.", valueName: "id"))
    var before: MergeID?

    @Option(help: "The maximum number of rows.")
    var limit = 100

    @OptionGroup var output: Output

    func validate() throws {
        guard (1...10_000).contains(limit) else { throw ValidationError("--limit must be from 1 to 10000") }
    }

    func run() throws {
        let page: ListPage<ListedMerge>
        do {
            page = try Environment.database().read {
                try $0.merges(of: user.map(User.ID.init(rawValue:)), after: before, limit: limit)
            }
        } catch Failure.invalidCursor {
            throw ToolError(.notFound, "there is no merge to list those before; `merganserctl merge list` shows them")
        }
        let merges = page.rows.map(ListedMergeReply.init)
        let more = page.next.map { ["more: --before \($0)"] } ?? []
        output.print(Body(merges: merges, next: page.next), (page.rows.map(\.words) + more).joined(separator: "\n"))
    }

    private struct Body: Encodable {
        let merges: [ListedMergeReply]
        @Nullable var next: String?
    }
}
