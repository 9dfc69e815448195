import Accounts
import ArgumentParser

struct SetRoleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "role", abstract: "Gives a user a role.",
        discussion: """
            A developer registers applications of their own. An admin does, too, and opens the console (/admin) and reads \
            /api/v1/admin: sees every account, and changes roles, ends sessions, restores deleted accounts, approves and \
            suspends applications, and sends events again. The first admin gets the role with this command. After that \
            admins give and take roles in the console, too.
            """)

    @Argument(help: "The user's id.")
    var id: Int64

    @Argument(help: ArgumentHelp("What the user may do.", valueName: "user|developer|admin"))
    var role: User.Role

    @OptionGroup var output: Output

    func run() throws {
        try Accounts.write(Environment.database(), from: .command) { try $0.setRole(role, of: User.ID(rawValue: id)) }
        output.print(Result(id: id, role: role.rawValue), "user \(id) has the role \(role.rawValue)")
    }

    private struct Result: Encodable {
        let id: Int64
        let role: String
    }
}

extension User.Role: ExpressibleByArgument {}
