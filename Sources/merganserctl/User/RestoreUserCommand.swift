import Accounts
import ArgumentParser

struct RestoreUserCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Takes the deletion of an account back, until it is purged.",
        discussion: """
            The person signs in as before the deletion. Consents to applications, devices and keys do not come back. \
            The applications that were told of the deletion are told of this, too.
            """)

    @Argument(help: "The user's id.")
    var id: Int64

    @OptionGroup var output: Output

    func run() throws {
        try Accounts.write(Environment.database(), from: .command) {
            try $0.restoreUser(User.ID(rawValue: id), by: .tool)
        }
        output.print(["restored": id], "user \(id) is restored")
    }
}
