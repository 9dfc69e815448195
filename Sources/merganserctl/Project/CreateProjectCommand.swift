import Analytics
import ArgumentParser

struct CreateProjectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "create", abstract: "Creates a project.")

    @Option(
        help: ArgumentHelp("The team that owns the project.", valueName: "team-id"),
        transform: identifier(listedBy: "team list"))
    var team: Team.ID

    @Option(help: "The project's name, 1 to 200 characters.")
    var name: String

    @Option(help: "The project's short name, unique within the team: 1 to 64 of a-z 0-9 -.")
    var slug: String

    @OptionGroup var options: ProjectOptions
    @OptionGroup var output: Output

    func run() throws {
        var settings = ProjectSettings(name: name, slug: slug)
        options.apply(to: &settings)
        let body = ProjectBody(
            try Analytics.write(Environment.database()) { [settings] transaction in
                try options.endCompatibility(transaction)
                return try transaction.createProject(settings, team: team)
            })
        output.print(body, body.words)
    }
}
