import Configuration
import Files
import FoundationEssentials
import Glibc
import Logging
import Logs
import Release

/// The server.
///
/// This target owns the life of an instance: its arguments, the conditions for serving, readiness, the control socket,
/// signals and its end. It has no rules and no SQL.
@main
enum Main {
    static func main() {
        switch Array(CommandLine.arguments.dropFirst()) {
        case []: serve()
        case ["--check"]: check()
        case ["--help"], ["-h"]: print(help)
        case ["--reference"]: print(Variable.markdownReference)
        case ["--version"]: print(Version.description)
        case let arguments:
            complain("merganserd: unknown arguments: \(arguments.joined(separator: " ")); see merganserd --help")
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

        Serves the API to nginx over a FastCGI socket, until SIGTERM or SIGINT. Then it answers the requests
        under way and on connections that nginx has open, and exits. It logs lines of JSON to standard error.

          --check      check the configuration and exit
          --reference  print the variables below as the Markdown table in docs/configuration.md

        merganserd reads its configuration once, from environment variables. If a variable holds a secret, NAME_FILE
        instead of NAME may give the path of a file that holds it. An empty value counts as not set, unless the
        variable's text says otherwise.

        \(Variable.reference)

        Exit status: 0 stopped by a signal; 64 wrong arguments; 70 a fault of the program or the system; 73 a socket
        or a folder cannot be created or used; 78 the configuration is wrong, this release does not work with the
        schema, or the server key is not the one that sealed the stored values.
        """
}
