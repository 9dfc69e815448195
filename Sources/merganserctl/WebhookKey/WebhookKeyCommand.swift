import ArgumentParser

struct WebhookKeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhook-key", abstract: "Manages the keys that events are signed with.",
        subcommands: [RotateWebhookKey.self, CompromisedWebhookKey.self])
}
