import Analytics
import ArgumentParser
import Database

struct ListProjects: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists projects in the order of their creation.")

    @Option(
        help: ArgumentHelp("List only this team's.", valueName: "team-id"),
        transform: identifier(listedBy: "team list"))
    var team: Team.ID?

    @OptionGroup var output: Output

    func run() throws {
        let projects = try Environment.database().read { try $0.projects(team: team) }
        output.print(
            ["projects": projects.map(ProjectBody.init)],
            projects.map { "\($0.id)  \($0.settings.slug.padded(to: 24))  \($0.settings.name)" }
                .joined(separator: "\n"))
    }
}
