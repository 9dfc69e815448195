import Analytics
import ArgumentParser
import Database

struct ListTeams: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists teams in the order of their creation.")

    @OptionGroup var output: Output

    func run() throws {
        let teams = try Environment.database().read { try $0.teams() }
        output.print(
            ["teams": teams.map(TeamBody.init)], teams.map { "\($0.id)  \($0.name)" }.joined(separator: "\n"))
    }
}
