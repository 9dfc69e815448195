import ArgumentParser
import FoundationEssentials
import IdentityTokens

struct DevIssuer: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "issuer", abstract: "Stands in for Apple and Google.", subcommands: [Initialize.self])

    struct Initialize: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "init", abstract: "Creates the issuer's missing keys in MERGANSER_DEV_KEYS_DIRECTORY.")

        @OptionGroup var output: Output

        func run() throws {
            let issuer = try Environment.developmentIssuer()
            try issuer.initialize()
            let files = Provider.allCases.map { issuer.keySetFile($0).path }
            output.print(["key_sets": files], files.joined(separator: "\n"))
        }
    }
}
