import Accounts
import ArgumentParser

struct SetRoleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set-role", abstract: "Gives a user a role.",
        discussion: "Developers can register applications of their own; admins can, too.")

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
