import Analytics
import ArgumentParser
import Files
import Time

struct CreateAPIKeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Creates a key.",
        discussion: """
            The secret is shown only here; the database keeps a digest of it. With --from-stdin the key gets a secret \
            that shipped apps already have, and the secret is not shown.
            """)

    @Option(help: ArgumentHelp("The type of the key.", valueName: "client|import|agent"))
    var type: APIKey.Kind

    @Option(
        help: ArgumentHelp("The app that a client or import key belongs to.", valueName: "app-id"),
        transform: identifier(listedBy: "app list"))
    var app: App.ID?

    @Option(
        help: ArgumentHelp("The team that an agent key belongs to.", valueName: "team-id"),
        transform: identifier(listedBy: "team list"))
    var team: Team.ID?

    @Option(
        parsing: .upToNextOption,
        help: "A permission of the key. (default: all that its type may have; for agents, all except events:write)")
    var permission: [Permission] = []

    @Option(help: "The key's name, 1 to 200 characters. (default: its type)")
    var name: String?

    @Option(
        help: ArgumentHelp(
            "When the key expires, such as 2027-01-31 or 2027-01-31T18:00:00Z. (default: never)", valueName: "time"),
        transform: time)
    var expires: Timestamp?

    @Flag(help: "Read the secret from standard input.")
    var fromStdin = false

    @OptionGroup var output: Output

    func run() throws {
        let new = NewAPIKey(
            kind: type, app: app, team: team, name: name ?? type.rawValue,
            permissions: permission.isEmpty ? nil : permission, expiresAt: expires,
            secret: fromStdin ? try SecretInput.read() : nil)
        let (key, secret) = try Analytics.write(Environment.database()) { try $0.createAPIKey(new) }
        output.print(
            APIKeyBody(key, secret: secret),
            (["key     \(key.id)"] + (secret.map { ["secret  \($0)"] } ?? [])).joined(separator: "\n"))
    }
}

private func time(_ text: String) throws -> Timestamp {
    guard let time = Timestamp(iso8601: text) else {
        throw ValidationError("write a date or a time in UTC, such as 2027-01-31 or 2027-01-31T18:00:00Z")
    }
    return time
}

extension APIKey.Kind: ExpressibleByArgument {}
extension Permission: ExpressibleByArgument {}
