import ArgumentParser
import Configuration
import Foundation

/// The operator's command line.
///
/// This target owns commands, their arguments and what they print. It does not own what they do to the tables: that is
/// `Accounts/Operations` and `Migrations`. Results go to standard output, errors to standard error; with `--json` both
/// are one JSON object. The exit status is 0 only on success (`ToolError.Kind`).
@main
enum Main {
    static func main() {
        let wantsJSON = CommandLine.arguments.contains("--json")
        do {
            var command = try Merganserctl.parseAsRoot()
            // The doctor has them among its findings.
            if !wantsJSON, !(command is Doctor) { warn() }
            do {
                try command.run()
            } catch  where !isArgumentParsers(error) {
                ToolError(error).exit(json: wantsJSON)
            }
        } catch {
            guard wantsJSON, !Merganserctl.exitCode(for: error).isSuccess, !(error is ExitCode) else {
                Merganserctl.exit(withError: error)
            }
            ToolError(.usage, Merganserctl.message(for: error)).exit(json: true)
        }
    }

    private static func warn() {
        for warning in Environment.warnings {
            FileHandle.standardError.write(Data("merganserctl: warning: \(warning)\n".utf8))
        }
    }

    /// Help asked for by a command, an argument refused by one, or a status without a message.
    private static func isArgumentParsers(_ error: any Error) -> Bool {
        error is CleanExit || error is ValidationError || error is ExitCode
    }
}

struct Merganserctl: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merganserctl",
        abstract: "Looks after a Merganser installation.",
        discussion: """
            Settings come from the same environment variables as merganserd's; `merganserd --help` lists them. Exit \
            status: 0 success, 1 refused or a check failed, 64 wrong arguments, 69 database unreachable, 78 wrong \
            configuration.
            """,
        version: Version.current,
        subcommands: [
            Migrate.self, ApplicationCommand.self, UserCommand.self, CollectGarbageCommand.self, Doctor.self, Dev.self,
        ])
}
