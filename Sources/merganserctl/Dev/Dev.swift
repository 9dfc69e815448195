import ArgumentParser

struct Dev: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Helps developers and tests; only with MERGANSER_ENVIRONMENT=development.",
        subcommands: [DevIssuer.self, DevToken.self, DevProvider.self, DevSeed.self, DevUser.self])
}
