import Accounts
import ArgumentParser

struct RotateSecret: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate-secret", abstract: "Creates a new client secret, which is shown only here.",
        discussion: "The old secret works for another 24 hours, unless you use --immediate.")

    @Argument(help: "The application's client_id.")
    var clientID: String

    @Flag(help: "The old secret stops working at once. Use this if it was stolen.")
    var immediate = false

    @OptionGroup var output: Output

    func run() throws {
        let secret = try Accounts.write(Environment.database(), from: .command) {
            try $0.rotateSecret(of: clientID, immediately: immediate)
        }
        output.print(
            ["client_id": clientID, "client_secret": secret], "client_id      \(clientID)\nclient_secret  \(secret)")
    }
}
