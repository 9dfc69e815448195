import ArgumentParser
import Files
import FoundationEssentials
import Glibc
import JSON

struct SetupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "setup", abstract: "Sets this machine up after the package was installed.",
        discussion: """
            Writes /etc/merganser, with keys that are made once and never overwritten; creates the database and its \
            accounts; installs the programs; migrates; makes the first signing key; enables the units; gives nginx its \
            part; and ends with `doctor`. Whatever is right already stays as it is, so you can run it again at any time, \
            also with options that change a setting. docs/deployment.md tells how to do each step by hand.
            """)

    @Option(help: "Base URL of the server as clients see it, such as https://id.example.com.")
    var issuer: String?

    @Option(help: "Client ids of apps at Apple, separated by commas.")
    var appleAudiences: String?

    @Option(help: "Client ids of apps at Google, separated by commas.")
    var googleAudiences: String?

    @Option(help: "Client id of the login page at Apple.")
    var appleWebClientID: String?

    @Option(help: "Client id of the login page at Google.")
    var googleWebClientID: String?

    @Option(help: "Host of MariaDB. (default: MariaDB on this machine, by its socket)")
    var databaseHost: String?

    @Option(help: "CA certificates that verify MariaDB at that host.")
    var databaseCAFile: String?

    @Flag(help: "Make keys and passwords for a database at another host, which no other machine uses yet.")
    var firstMachine = false

    @Option(help: "The certificate for nginx, with its chain. (default: that of certbot for the issuer's host)")
    var certificate: String?

    @Option(help: "The certificate's private key.")
    var certificateKey: String?

    @Flag(help: "Print what is missing, and change nothing.")
    var dryRun = false

    @OptionGroup var output: Output

    func run() throws {
        guard geteuid() == 0 else { throw ToolError(.refused, "run setup as root") }
        // Servers read what is written here, except for what SettingsFolder writes.
        umask(0o022)
        var settings = try SettingsFile.load()
        var given = options
        if settings["MERGANSER_ISSUER"] == nil, issuer == nil { given = try asked() }
        for (name, value) in given { try settings.set(name, value) }
        let database = try SetupDatabase(settings)
        let steps: [any SetupStep] =
            [SecretsStep(database: database, isFirstMachine: firstMachine), SettingsStep(settings: settings)]
            + [DatabaseServerStep(database: database), DatabaseStep(database: database)]
            + [ProgramsStep(), SchemaStep(), SigningKeyStep(), UnitsStep()]
            + [try NginxStep(settings: settings, certificate: certificate, key: certificateKey)]
        var parts: [Part] = []
        for step in steps {
            let part = Part(name: step.name, missing: try step.missing())
            parts.append(part)
            if dryRun { continue }
            output.progress(
                part.missing.isEmpty ? "ok    \(step.name)" : part.missing.map { "now   \($0)" }.joined(separator: "\n")
            )
            if !part.missing.isEmpty { try step.mend() }
        }
        if dryRun {
            let plan = parts.flatMap(\.missing)
            output.print(
                Result(parts: parts, doctor: nil), plan.isEmpty ? "nothing to do" : plan.joined(separator: "\n"))
            return
        }
        let answer = try Program.output(tool, "doctor", "--json")
        guard let doctor = try? Doctor.Result(json: Array(answer.utf8)) else {
            throw ToolError(.failed, "merganserctl doctor fails: \(answer)")
        }
        output.print(Result(parts: parts, doctor: doctor), doctor.words)
        if !doctor.healthy { throw ExitCode.failure }
    }

    private struct Part: Encodable {
        let name: String
        let missing: [String]
    }

    private struct Result: Encodable {
        let parts: [Part]
        /// Nil if nothing was done.
        let doctor: Doctor.Result?
    }

    /// The settings that options name.
    private var options: [(name: String, value: String)] {
        [
            ("MERGANSER_ISSUER", issuer), ("MERGANSER_APPLE_AUDIENCES", appleAudiences),
            ("MERGANSER_GOOGLE_AUDIENCES", googleAudiences), ("MERGANSER_APPLE_WEB_CLIENT_ID", appleWebClientID),
            ("MERGANSER_GOOGLE_WEB_CLIENT_ID", googleWebClientID), ("MERGANSER_DATABASE_HOST", databaseHost),
            ("MERGANSER_DATABASE_CA_FILE", databaseCAFile),
        ].compactMap { name, value in value.map { (name, $0) } }
    }

    /// Asks a person for what no option says.
    private func asked() throws -> [(name: String, value: String)] {
        guard isatty(STDIN_FILENO) == 1 else {
            throw ToolError(.usage, "name the issuer: --issuer https://id.example.com")
        }
        let questions = [
            ("MERGANSER_ISSUER", "Base URL of the server as clients see it (https://…)"),
            ("MERGANSER_APPLE_AUDIENCES", "Client ids of your apps at Apple, separated by commas (empty: none)"),
            ("MERGANSER_GOOGLE_AUDIENCES", "Client ids of your apps at Google, separated by commas (empty: none)"),
            ("MERGANSER_DATABASE_HOST", "Host of MariaDB (empty: this machine)"),
        ]
        let known = options
        let answers = questions.filter { name, _ in !known.contains { $0.name == name } }.map { name, question in
            print("\(question): ", terminator: "")
            fflush(nil)
            return (name: name, value: readLine() ?? "")
        }
        return known + answers.filter { !$0.value.isEmpty }
    }
}

/// merganserctl with the settings and secrets of /etc/merganser.
let tool = "/usr/sbin/merganserctl"

/// One part of a machine's set-up.
protocol SetupStep {
    var name: String { get }
    /// What is missing, in words that begin with a verb; empty if all is right.
    func missing() throws -> [String]
    /// Does what is missing, and nothing else.
    func mend() throws
}
