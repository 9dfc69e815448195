import ArgumentParser

struct Dev: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Commands for developers and tests; they work only with MERGANSER_ENVIRONMENT=development.",
        subcommands: [DevIssuer.self, DevToken.self, DevProvider.self, DevSeed.self, DevUser.self])
}
