import ArgumentParser
import Configuration
import MariaDB

struct Doctor: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Checks everything that the server depends on, and says how to fix each fault.",
        discussion: """
            Run it with the server's environment. Where the package was installed, run it as root, who alone can read the \
            settings; otherwise as the server's user, because root can write to every folder. The exit status is 1 if a \
            check fails. Warnings are worth a look, but are not failures.
            """)

    @Option(help: "HAProxy's stats socket; nothing is checked if there is none.")
    var haproxySocket = "/run/haproxy/admin.sock"
    @OptionGroup var output: Output

    func run() throws {
        let configuration = try Environment.configuration()
        let findings =
            Environment.warnings.map { Finding.warn("environment", $0, "correct the name, or unset it") }
            + checkDatabase(configuration) + BalancerChecks(socket: haproxySocket).findings
            + SystemChecks(configuration).findings
            + KeySetChecks(configuration).findings
        let isHealthy = !findings.contains { $0.status == .fail }
        let result = Result(healthy: isHealthy, findings: findings)
        output.print(result, result.words)
        if !isHealthy { throw ExitCode.failure }
    }

    private func checkDatabase(_ configuration: Configuration) -> [Finding] {
        let options = configuration.database.connection
        do {
            let connection = try Connection(options)
            let checks = DatabaseChecks(
                connection, threads: configuration.server.threads, dispatchers: configuration.server.dispatchers)
            let findings =
                [.ok("database", "\(options) answers")] + (try ClusterChecks(connection)?.findings() ?? [])
                + (try checks.findings())
            // Without the tables there are no keys.
            if findings.contains(where: { $0.check == "schema" && $0.status == .fail }) { return findings }
            return findings + (try KeyChecks(connection, Environment.serverKey()).findings())
                + (try ApplicationChecks(connection).findings())
        } catch {
            return [
                .fail(
                    "database", "\(options): \(ToolError(error).message)",
                    "start MariaDB, or correct MERGANSER_DATABASE_*; the server waits for it and recovers by itself")
            ]
        }
    }

    struct Result: Codable {
        let healthy: Bool
        let findings: [Finding]

        var words: String { findings.map(\.words).joined(separator: "\n") }
    }
}
