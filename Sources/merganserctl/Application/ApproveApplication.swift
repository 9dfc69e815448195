import Accounts
import ArgumentParser

struct ApproveApplication: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve",
        abstract: "Lets an application that a developer registered, or changes of it, take effect.",
        discussion: """
            `application show` prints what serves, what waits, and the revision that names both. Whatever changes \
            afterwards has another revision, and is not approved.
            """)

    @Argument(help: "Its client_id.")
    var clientID: String

    @Option(help: "What you looked at; needed where changes wait. Without it a new application is approved as it is.")
    var revision: String?

    @OptionGroup var output: Output

    func run() throws {
        let rules = try Environment.applicationRules()
        let body = try ApplicationBody.after { try $0.approveApplication(clientID, revision: revision, by: rules) }
        output.print(body, body.words)
    }
}
