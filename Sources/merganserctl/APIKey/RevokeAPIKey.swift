import Analytics
import ArgumentParser
import Time

struct RevokeAPIKey: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Revokes a key: from now on no server accepts it.")

    @Argument(help: "The key's id.", transform: identifier(listedBy: "api-key list"))
    var key: APIKey.ID

    @OptionGroup var output: Output

    func run() throws {
        guard let revokedAt = try Analytics.write(Environment.database(), { try $0.revokeAPIKey(key) }) else {
            throw ToolError(.notFound, "there is no key \(key); `merganserctl api-key list` shows them")
        }
        let time = revokedAt.iso8601Milliseconds
        output.print(Result(id: key, revokedAt: time), "key \(key) was revoked at \(time)")
    }

    private struct Result: Encodable {
        let id: APIKey.ID
        let revokedAt: String
    }
}
