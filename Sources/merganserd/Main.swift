import Configuration
import Files
import FoundationEssentials
import Glibc
import Logging
import Logs

/// The server.
///
/// This target owns how an instance lives: its arguments, what must hold before it serves, readiness, the control
/// socket, signals and its end. It holds no rules and no SQL.
@main
enum Main {
    static func main() {
        switch Array(CommandLine.arguments.dropFirst()) {
        case []: serve()
        case ["--check"]: check()
        case ["--help"], ["-h"]: print(help)
        case ["--reference"]: print(Variable.markdownReference)
        case ["--version"]: print(Version.current)
        case let arguments:
            complain("merganserd: cannot make sense of \(arguments.joined(separator: " ")); see merganserd --help")
            exit(EX_USAGE)
        }
    }

    private static let environment = ProcessInfo.processInfo.environment

    private static func serve() {
        let configuration: Configuration
        do {
            configuration = try Configuration.load(environment: environment)
        } catch {
            let logger = Logger(label: "merganserd") { _ in JSONLogHandler(level: .info) }
            for problem in error.problems { logger.critical("\(problem)") }
            exit(EX_CONFIG)
        }
        let logger = Logger(label: "merganserd") { _ in
            JSONLogHandler(
                level: configuration.server.logLevel, metadata: ["instance": "\(configuration.server.instance)"])
        }
        for warning in Configuration.warnings(environment: environment) { logger.warning("\(warning)") }
        do {
            try Instance(configuration, logger).run()
        } catch {
            logger.critical("\(error)")
            exit((error as? StartFailure)?.status ?? EX_SOFTWARE)
        }
    }

    private static func check() {
        for warning in Configuration.warnings(environment: environment) { complain("warning: \(warning)") }
        do {
            _ = try Configuration.load(environment: environment)
            print("The configuration is complete and consistent.")
        } catch {
            complain("\(error)")
            exit(EX_CONFIG)
        }
    }

    private static func complain(_ text: String) { StandardError.write("\(text)\n") }

    private static let help = """
        Usage: merganserd [--check | --reference | --help | --version]

        Serves the accounts API to nginx over a FastCGI socket, until SIGTERM or SIGINT; then it serves what nginx
        still has open, and leaves. Logs are lines of JSON on standard error.

          --check      say whether the configuration is right, and leave
          --reference  print what follows as a Markdown table, as docs/configuration.md has it

        The configuration is read once, from environment variables. NAME_FILE instead of NAME gives the path of a
        file that holds a secret. An empty value counts as none, unless said otherwise.

        \(Variable.reference)

        Exit status: 0 stopped by a signal; 64 wrong arguments; 70 a fault of the program or the system;
        73 a socket or the state directory cannot be made; 78 wrong configuration, or a schema this release does not
        work with, or another server key than the one that sealed what is stored.
        """
}
