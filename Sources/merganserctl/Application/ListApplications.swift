import Accounts
import ArgumentParser

struct ListApplications: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists applications in the order of their creation.")

    @OptionGroup var output: Output

    func run() throws {
        let applications = try Environment.database().read { try $0.applications() }
        output.print(
            ["applications": applications.map(ApplicationBody.init)],
            applications.map {
                "\($0.clientID.padded(to: 38)) \($0.status.padded(to: 10)) \($0.clientType.padded(to: 13)) \($0.name)"
            }.joined(separator: "\n"))
    }
}
