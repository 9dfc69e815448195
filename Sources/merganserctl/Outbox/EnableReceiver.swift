import Accounts
import ArgumentParser

struct EnableReceiver: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable", abstract: "Sends to an application's webhook URL again, and closes its breaker.")

    @Argument(help: "The application's client_id.")
    var application: String

    @OptionGroup var output: Output

    func run() throws {
        let enabled = try Accounts.write(try Environment.database(), from: .command) {
            try $0.enableWebhook(application)
        }
        output.print(
            ["enabled": enabled.clientID],
            enabled.webhookURL.map { "Events are sent to \($0) again." }
                ?? "\(enabled.clientID) has no webhook URL, so nothing is sent.")
    }
}
