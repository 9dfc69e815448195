import Accounts
import ArgumentParser
import Database

struct ShowApplication: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "show", abstract: "Shows one application.")

    @Argument(help: "The application's client_id.")
    var clientID: String

    @OptionGroup var output: Output

    func run() throws {
        let body = try Environment.database().snapshot { connection in
            try connection.registeredApplication(clientID).map {
                ApplicationBody(application: $0, liveGrants: try connection.liveGrants(of: $0.id))
            }
        }
        guard let body else {
            throw ToolError(
                .notFound, "there is no application \(clientID); `merganserctl application list` shows them")
        }
        output.print(body, body.words)
    }
}
