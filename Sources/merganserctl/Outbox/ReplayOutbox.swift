import Accounts
import ArgumentParser
import Database

struct ReplayOutbox: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Sends events again, from their first attempt on.",
        discussion: """
            --event sends that event. --application sends the events of that application, at most 10 000, the oldest \
            first. --dead sends only events that were given up, of that application or of all.
            """)

    @Option(help: "The id of one event.")
    var event: String?

    @Option(help: "The client_id of the application whose events they are.")
    var application: String?

    @Flag(help: "Only events that were given up after the last attempt.")
    var dead = false

    @OptionGroup var output: Output

    func validate() throws {
        if event == nil && application == nil && !dead {
            throw ValidationError("name --event, --application or --dead")
        }
        if event != nil && (application != nil || dead) { throw ValidationError("--event stands alone") }
    }

    func run() throws {
        let database = try Environment.database()
        let applications = try database.read { connection in
            if let event { return try connection.application(ofEvent: event).map { [$0] } ?? [] }
            if let application { return [application] }
            return try connection.registeredApplications().filter { $0.webhookURL != nil }.map(\.clientID)
        }
        if applications.isEmpty, let event { throw ToolError(.notFound, "there is no event \(event)") }
        let events: ReplayedEvents =
            if let event { .one(eventID: event) } else if dead { .dead } else { .written(since: nil, until: nil) }
        let count = try applications.reduce(0) { count, application in
            count + (try Accounts.write(database, from: .command) { try $0.replayEvents(events, of: application) })
        }
        output.print(["replayed": count], "\(count) events are sent again.")
    }
}
