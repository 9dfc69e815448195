import AccountReplies
import Accounts
import ArgumentParser
import Database
import JSON

struct ListMerges: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists merges, the newest first.",
        discussion: """
            If there are more, the last line names the id to continue before. A link that led to an account that was \
            absorbed later leads to the survivor.
            """)

    @Option(help: "Only merges that this user survived or was absorbed by.")
    var user: Int64?

    @Option(help: ArgumentHelp("Only merges older than this one.", valueName: "id"))
    var before: Int64?

    @Option(help: "The maximum number of merges.")
    var limit = 100

    @OptionGroup var output: Output

    func validate() throws {
        guard (1...10_000).contains(limit) else { throw ValidationError("--limit must be from 1 to 10000") }
    }

    func run() throws {
        let page = try Environment.database().read {
            try $0.merges(
                of: user.map(User.ID.init(rawValue:)), after: before.map(IdentityLink.ID.init(rawValue:)), limit: limit
            )
        }
        let merges = page.rows.map(ListedMergeReply.init)
        let more = page.next.map { ["more: --before \($0)"] } ?? []
        output.print(Body(merges: merges, next: page.next), (merges.map(\.words) + more).joined(separator: "\n"))
    }

    private struct Body: Encodable {
        let merges: [ListedMergeReply]
        @Nullable var next: String?
    }
}
