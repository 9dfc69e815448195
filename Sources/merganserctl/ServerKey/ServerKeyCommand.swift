import ArgumentParser

struct ServerKeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "server-key", abstract: "Manages values that the server key seals.",
        subcommands: [RotateServerKey.self])
}
