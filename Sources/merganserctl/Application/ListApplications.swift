import Accounts
import ArgumentParser
import Database

struct ListApplications: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists applications in the order of their creation.")

    @OptionGroup var output: Output

    func run() throws {
        let (applications, liveGrants) = try Environment.database().snapshot {
            (try $0.registeredApplications(), try $0.liveGrants())
        }
        let bodies = applications.map { ApplicationBody(application: $0, liveGrants: liveGrants[$0.id] ?? 0) }
        output.print(
            ["applications": bodies],
            applications.map {
                "\($0.clientID.padded(to: 38)) \($0.status.rawValue.padded(to: 10)) "
                    + "\($0.clientType.rawValue.padded(to: 13)) "
                    + ($0.pendingChanges.isEmpty ? "" : "(changes pending) ") + $0.name
            }.joined(separator: "\n"))
    }
}
