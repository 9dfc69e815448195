import Accounts
import ArgumentParser

struct ShowApplication: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "show", abstract: "Shows one application.")

    @Argument(help: "Its client_id.")
    var clientID: String

    @OptionGroup var output: Output

    func run() throws {
        guard let application = try Environment.database().read({ try $0.application(clientID: clientID) }) else {
            throw ToolError(
                .notFound, "there is no application \(clientID); `merganserctl application list` shows them")
        }
        let body = ApplicationBody(application)
        output.print(body, body.words)
    }
}
