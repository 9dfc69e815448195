import ArgumentParser

struct ServerKeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "server-key", abstract: "Looks after what is stored under the server key.",
        subcommands: [RotateServerKey.self])
}
