import ArgumentParser
import Configuration
import Files

/// The operator's command line.
///
/// This target owns commands, their arguments and what they print. It does not own what they do to the tables: that is in
/// `Accounts`, `Analytics` and `Migrations`. Results go to standard output, errors to standard error;
/// with `--json` both are one JSON object. The exit status is 0 only on success (`ToolError.Kind`).
@main
enum Main {
    static func main() {
        let wantsJSON = CommandLine.arguments.contains("--json")
        do {
            var command = try Merganserctl.parseAsRoot()
            // The doctor has them among its findings.
            if !wantsJSON, !(command is Doctor) { warn() }
            try command.run()
        } catch {
            switch Merganserctl.exitCode(for: error) {
            case .validationFailure where wantsJSON:
                ToolError(.usage, Merganserctl.message(for: error)).exit(json: true)
            case .failure where !(error is ExitCode):
                ToolError(error).exit(json: wantsJSON)
            default:
                // Help, arguments it cannot make sense of, or the status of a command that has said all itself.
                Merganserctl.exit(withError: error)
            }
        }
    }

    private static func warn() {
        for warning in Environment.warnings { StandardError.write("merganserctl: warning: \(warning)\n") }
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
            Migrate.self, SigningKeyCommand.self, ServerKeyCommand.self, ApplicationCommand.self, UserCommand.self,
            TeamCommand.self, ProjectCommand.self,
            AppCommand.self, APIKeyCommand.self, QuestionnaireCommand.self, CollectGarbageCommand.self,
            CompactCommand.self, RetentionCommand.self, AttachmentsCommand.self, VerifyCommand.self, Doctor.self,
            Dev.self,
        ])
}
