import Accounts
import ArgumentParser

struct RefuseChanges: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refuse", abstract: "Refuses the pending changes of an application.",
        discussion: "The values in effect stay in effect. The developer sees that no changes are pending any more.")

    @Argument(help: "The application's client_id.")
    var clientID: String

    @Option(help: "The revision that you looked at, as `application show` prints it.")
    var revision: String

    @OptionGroup var output: Output

    func run() throws {
        let body = try ApplicationBody.after { try $0.refuseChanges(of: clientID, revision: revision) }
        output.print(body, body.words)
    }
}
