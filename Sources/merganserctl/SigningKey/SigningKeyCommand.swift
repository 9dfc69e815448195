import ArgumentParser

struct SigningKeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signing-key", abstract: "Publishes and activates the keys that sign tokens.",
        discussion: """
            A key is published first, so that clients get to know it, signs from its activation on, and stays published \
            for 90 days after its successor took over. Running servers follow within 30 seconds, without restart.
            """,
        subcommands: [GenerateSigningKeyCommand.self, ActivateSigningKeyCommand.self, ListSigningKeys.self])
}
