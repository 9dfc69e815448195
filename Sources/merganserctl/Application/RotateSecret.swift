import Accounts
import ArgumentParser

struct RotateSecret: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate-secret", abstract: "Makes a new client secret, which is shown here only.",
        discussion: "The secret so far works for 24 hours more, unless --immediate.")

    @Argument(help: "Its client_id.")
    var clientID: String

    @Flag(help: "The secret so far stops working at once: it was stolen.")
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
