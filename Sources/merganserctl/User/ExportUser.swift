import Accounts
import ArgumentParser
import Database
import Files
import SignInClaims
import Time

struct ExportUser: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Prints everything that is kept about an account, as one JSON document.",
        discussion: """
            Secrets and digests are left out. The user gets the same from GET /api/v1/me/export. The audit log says that \
            you had it, and the account's activity shows that, too.
            """)

    @Argument(help: "The user's id.")
    var id: Int64

    @OptionGroup var output: Output

    func run() throws {
        let (now, serverKey) = (Clock.system.now, try Environment.serverKey())
        let (database, user) = (try Environment.database(), User.ID(rawValue: id))
        // First: nothing is printed without a trace.
        let isNoted = try Accounts.write(database, from: .command) { try $0.noteExport(of: user) }
        guard isNoted, let file = try database.exportedAccount(of: user, at: now, serverKey, within: nil) else {
            throw ToolError(.notFound, "there is no user \(id); a swap deletes the anonymous account that it moves")
        }
        while true {
            let part = try file.read(atMost: 65_536)
            if part.isEmpty { break }
            output.write(part)
        }
        output.write([UInt8(ascii: "\n")])
    }
}
