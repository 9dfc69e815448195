import ArgumentParser

struct APIKeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "api-key", abstract: "Creates, lists and revokes the keys of the analytics API.",
        subcommands: [CreateAPIKeyCommand.self, ListAPIKeys.self, RevokeAPIKey.self])
}
