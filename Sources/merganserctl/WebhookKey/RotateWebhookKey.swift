import Accounts
import ArgumentParser

struct RotateWebhookKey: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate", abstract: "Adds a webhook key, whose secret is shown only here.",
        discussion: """
            Events are signed with the new key from now on. In the headers of Standard Webhooks the older keys sign, too, until \
            they are reported as compromised.
            """)

    @Argument(help: "The application's client_id.")
    var clientID: String

    @OptionGroup var output: Output

    func run() throws {
        let serverKey = try Environment.serverKey()
        let key = try Accounts.write(Environment.database(), from: .command) {
            try $0.addWebhookKey(to: clientID, serverKey: serverKey)
        }
        output.print(
            Result(clientID: clientID, kid: key.keyID, secret: key.secret),
            "webhook kid     \(key.keyID)\nwebhook secret  \(key.secret)")
    }

    private struct Result: Encodable {
        let clientID: String
        let kid: String
        let secret: String
    }
}
