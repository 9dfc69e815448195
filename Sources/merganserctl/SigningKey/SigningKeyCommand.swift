import ArgumentParser

struct SigningKeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signing-key", abstract: "Publishes and activates the keys that sign tokens.",
        discussion: """
            A key is published first, so that clients can fetch it. It signs from its activation on. It stays \
            published for 90 days after the next key was activated. Running servers follow within 30 seconds, \
            without a restart.
            """,
        subcommands: [GenerateSigningKeyCommand.self, ActivateSigningKeyCommand.self, ListSigningKeys.self])
}
