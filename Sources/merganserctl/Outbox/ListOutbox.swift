import AccountReplies
import Accounts
import ArgumentParser
import Database

extension OutboxState: ExpressibleByArgument {}

struct ListOutbox: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists events, the newest first; shows no payloads.")

    @Option(help: "Only events in that state.")
    var state: OutboxState?

    @Option(help: "Only events of that application.")
    var application: String?

    @Option(help: "The maximum number of events.")
    var limit = 100

    @OptionGroup var output: Output

    func run() throws {
        guard (1...10_000).contains(limit) else { throw ValidationError("--limit must be from 1 to 10000") }
        let events = try Environment.database().read {
            try $0.outboxEvents(in: state, of: application, limit: limit)
        }
        output.print(
            ["events": events.map(OutboxEventReply.init)],
            events.map { event in
                "\(event.eventID) \(event.clientID.padded(to: 38)) \(event.type.padded(to: 22)) "
                    + "\(event.state.rawValue.padded(to: 10)) \(event.attempts) \(event.failureReason ?? "")"
            }.joined(separator: "\n"))
    }
}
