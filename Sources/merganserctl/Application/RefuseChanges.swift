import Accounts
import ArgumentParser

struct RefuseChanges: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refuse", abstract: "Drops the changes of an application that wait.",
        discussion: "What serves goes on serving. The developer sees that nothing waits any more.")

    @Argument(help: "Its client_id.")
    var clientID: String

    @Option(help: "What you looked at, as `application show` prints it.")
    var revision: String

    @OptionGroup var output: Output

    func run() throws {
        let body = try ApplicationBody.after { try $0.refuseChanges(of: clientID, revision: revision) }
        output.print(body, body.words)
    }
}
