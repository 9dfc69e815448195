import ArgumentParser

struct OutboxCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox", abstract: "Shows the events for relying parties, and sends them again.",
        subcommands: [ListOutbox.self, ReplayOutbox.self, EnableReceiver.self])
}
