import ArgumentParser
import Configuration
import Glibc

struct DevProvider: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "provider", abstract: "Stands in for the sign-in pages of Apple and Google, until you stop it.",
        discussion: """
            On its page you type who you are. It listens only on 127.0.0.1, signs with the development issuer's keys \
            and sends people back to MERGANSER_ISSUER only. Both providers need a web client id, and their authorize \
            URLs point here: MERGANSER_APPLE_AUTHORIZE_URL=http://127.0.0.1:8081/apple/authorize, and likewise Google's.
            """)

    @Option(help: "The port; 0 for any free port.")
    var port: UInt16 = 8081

    @OptionGroup var output: Output

    func run() throws {
        let keys = try Environment.developmentIssuer()
        let configuration = try Environment.configuration()
        let provider = StandInProvider(
            keys: keys, providers: configuration.providers, issuer: configuration.deployment.issuer.description)
        let server = try LoopbackServer(port: port)
        let address = "http://127.0.0.1:\(server.port)"
        output.print(["address": address], "Stands in for Apple and Google on \(address)")
        fflush(nil)
        server.serve(provider.respond)
    }
}
