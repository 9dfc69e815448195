import Analytics
import ArgumentParser

struct CreateTeamCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "create", abstract: "Creates a team.")

    @Option(help: "The team's name, 1 to 200 characters.")
    var name: String

    @OptionGroup var output: Output

    func run() throws {
        let team = try Analytics.write(Environment.database()) { try $0.createTeam(name: name) }
        output.print(TeamBody(team), "team  \(team.id)")
    }
}
