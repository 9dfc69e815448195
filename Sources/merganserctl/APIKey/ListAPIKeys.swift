import Analytics
import ArgumentParser
import Database
import Time

struct ListAPIKeys: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists keys, revoked ones too, in the order of their creation; shows no secrets.")

    @Option(
        help: ArgumentHelp("List only this team's.", valueName: "team-id"),
        transform: identifier(listedBy: "team list"))
    var team: Team.ID?

    @Option(
        help: ArgumentHelp("List only this app's.", valueName: "app-id"), transform: identifier(listedBy: "app list"))
    var app: App.ID?

    @OptionGroup var output: Output

    func run() throws {
        let keys = try Environment.database().read { try $0.apiKeys(team: team, app: app) }
        output.print(["api_keys": keys.map { APIKeyBody($0) }], keys.map(words).joined(separator: "\n"))
    }

    private func words(_ key: APIKeySummary) -> String {
        let state =
            key.revokedAt.map { "revoked \($0.iso8601)" } ?? key.expiresAt.map { "expires \($0.iso8601)" } ?? "live"
        let secret = "\(key.kind.prefix)…\(key.lastCharacters)"
        return "\(key.id)  \(secret.padded(to: 16))  \(state.padded(to: 28))  \(key.name)"
    }
}
