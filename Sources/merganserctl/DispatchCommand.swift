import Accounts
import ArgumentParser
import Configuration
import Database
import FastCGI
import Files
import JSON

struct DispatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dispatch",
        abstract: "Sends webhooks, logout tokens and revocations at Apple, beside the servers or instead of them.",
        discussion: """
            Every server has a dispatcher of its own (MERGANSER_DISPATCHERS), and any number of dispatchers may run. Ends \
            on SIGTERM or SIGINT, when the requests under way have been answered.
            """)

    @Flag(help: "Send what is due now, and exit.")
    var once = false

    @OptionGroup var output: Output

    func run() throws {
        let accounts = try Environment.accounts()
        let database = try Environment.databaseSettings().connection
        let options = Dispatcher.Options(isDevelopment: accounts.settings.isDevelopment)
        let statistics = DeliveryStatistics()
        if once {
            _ = try Dispatcher(accounts, Database(database), options, statistics: statistics).runOnce()
        } else {
            blockAllSignals()
            let dispatchers = Dispatchers(
                accounts, options, statistics: statistics, makeDatabase: { Database(database) },
                report: { kind, error in
                    StandardError.write("merganserctl: \(kind.plural) cannot be sent: \(ToolError(error).message)\n")
                })
            dispatchers.start(1)
            output.progress("Sends webhooks, logout tokens and revocations at Apple until it is stopped")
            while ![.terminate, .interrupt].contains(waitForSignal()) {}
            dispatchers.stop()
        }
        let counts = statistics.snapshot
        let lines = DeliveryStatistics.Outcome.allCases.map { outcome in
            let (webhooks, logouts) = (counts.webhooks.attempts[outcome] ?? 0, counts.logouts.attempts[outcome] ?? 0)
            let revocations = counts.appleRevocations.attempts[outcome] ?? 0
            return "\(outcome.rawValue.padded(to: 12)) \("\(webhooks)".padded(to: 9)) "
                + "\("\(logouts)".padded(to: 14)) \(revocations)"
        }
        output.print(
            [
                "attempts": counts.webhooks.attemptsJSON, "logout_attempts": counts.logouts.attemptsJSON,
                "apple_revocation_attempts": counts.appleRevocations.attemptsJSON,
            ],
            (["\("attempts".padded(to: 12)) webhooks  logout tokens  at Apple"] + lines).joined(separator: "\n"))
    }
}

extension DeliveryStatistics.Counts {
    fileprivate var attemptsJSON: JSONValue {
        .object(
            JSONObject(
                DeliveryStatistics.Outcome.allCases.map { ($0.rawValue, .integer(Int64(attempts[$0] ?? 0))) }))
    }
}
