import Accounts
import ArgumentParser

struct CompromisedWebhookKey: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compromised", abstract: "Ends a webhook key that somebody else may know, at once.",
        discussion: """
            The application's newest other key signs from now on. If there is none, a new key is made, whose secret is \
            shown only here. The application gets the event webhook_key.compromised.
            """)

    @Argument(help: "The application's client_id.")
    var clientID: String

    @Argument(help: "The key's kid, such as whk_2026q2_7f.")
    var kid: String

    @OptionGroup var output: Output

    func run() throws {
        let serverKey = try Environment.serverKey()
        let replacement = try Accounts.write(Environment.database(), from: .command) {
            try $0.retireCompromisedKey(kid, of: clientID, serverKey: serverKey)
        }
        let secret = replacement.newSecret.map { "\nwebhook secret  \($0)" } ?? ""
        output.print(
            Result(clientID: clientID, kid: kid, replacedBy: replacement.keyID, secret: replacement.newSecret),
            "replaced by     \(replacement.keyID)\(secret)")
    }

    private struct Result: Encodable {
        let clientID: String
        let kid: String
        let replacedBy: String
        /// Only of a new key.
        let secret: String?
    }
}
