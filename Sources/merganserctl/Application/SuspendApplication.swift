import Accounts
import ArgumentParser

struct SuspendApplication: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "suspend", abstract: "Stops an application.",
        discussion: """
            Nobody can sign in to it any more, its tokens and secret are refused, and nothing is sent to it. `application \
            set CLIENT_ID --status active` lets it go on.
            """)

    @Argument(help: "The application's client_id.")
    var clientID: String

    @OptionGroup var output: Output

    func run() throws {
        var changes = ApplicationChanges()
        changes.status = .suspended
        let approved = try changes.approved()
        let body = try ApplicationBody.after { try $0.setApplication(clientID, approved) }
        output.print(body, body.words)
    }
}
