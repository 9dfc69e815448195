import ArgumentParser
import Configuration
import Files
import Release

/// The operator's command line.
///
/// This target owns commands, their arguments and their output. It does not own the changes to the tables: those are in
/// `Accounts`, `Analytics` and `Migrations`. Results go to standard output, errors to standard error; with `--json`
/// each is one JSON object. The exit status is 0 only on success (`ToolError.Kind`).
@main
enum Main {
    static func main() {
        let wantsJSON = CommandLine.arguments.contains("--json")
        do {
            var command = try Merganserctl.parseAsRoot()
            // The doctor reports them among its findings.
            if !wantsJSON, !(command is Doctor) { warn() }
            try command.run()
        } catch {
            switch Merganserctl.exitCode(for: error) {
            case .validationFailure where wantsJSON:
                ToolError(.usage, Merganserctl.message(for: error)).exit(json: true)
            case .failure where !(error is ExitCode):
                ToolError(error).exit(json: wantsJSON)
            default:
                // Help, wrong arguments, or the status of a command that has already printed everything.
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
        abstract: "Administers a Merganser installation.",
        discussion: """
            merganserctl reads the same environment variables as merganserd; `merganserd --help` lists them. Exit \
            status: 0 success, 1 the command was refused or a check failed, 64 wrong arguments, 69 the database \
            cannot be reached, 78 wrong configuration.
            """,
        version: Version.description,
        subcommands: [
            Migrate.self, SigningKeyCommand.self, ServerKeyCommand.self, ApplicationCommand.self,
            WebhookKeyCommand.self, UserCommand.self, MergeCommand.self, PurgeCommand.self, AnonymousCommand.self,
            TeamCommand.self, ProjectCommand.self, AppCommand.self, APIKeyCommand.self, QuestionnaireCommand.self,
            CollectGarbageCommand.self, DispatchCommand.self, OutboxCommand.self, CompactCommand.self,
            RetentionCommand.self, AttachmentsCommand.self, VerifyCommand.self, Doctor.self, SetupCommand.self,
            ReleaseCommand.self, Dev.self,
        ])
}
