import Accounts
import ArgumentParser

struct ApproveApplication: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve",
        abstract: "Approves an application that a developer registered, or its pending changes.",
        discussion: """
            `application show` prints the values in effect, the pending ones, and a revision of both. If anything \
            changes afterwards, the revision changes, and this command refuses.
            """)

    @Argument(help: "The application's client_id.")
    var clientID: String

    @Option(
        help: ArgumentHelp(
            "The revision that you looked at; required if changes are pending. Without it, a new application is "
                + "approved as it is."))
    var revision: String?

    @OptionGroup var output: Output

    func run() throws {
        let rules = try Environment.applicationRules()
        let body = try ApplicationBody.after { try $0.approveApplication(clientID, revision: revision, by: rules) }
        output.print(body, body.words)
    }
}
