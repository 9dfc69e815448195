import Analytics
import ArgumentParser

struct SetProject: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Changes the given settings of a project.")

    @Argument(help: "The project's id.", transform: identifier(listedBy: "project list"))
    var project: Project.ID

    @Option(help: "The project's name, 1 to 200 characters.")
    var name: String?

    @Option(help: "The project's short name, unique within the team: 1 to 64 of a-z 0-9 -.")
    var slug: String?

    @OptionGroup var options: ProjectOptions
    @OptionGroup var output: Output

    func validate() throws {
        if name == nil, slug == nil, options.isEmpty {
            throw ValidationError("Nothing to change; name a setting, such as --retention-days-events 90.")
        }
    }

    func run() throws {
        let changed = try Analytics.write(Environment.database()) { transaction in
            try options.endCompatibility(transaction)
            return try transaction.setProject(project) { settings in
                if let name { settings.name = name }
                if let slug { settings.slug = slug }
                options.apply(to: &settings)
            }
        }
        let body = ProjectBody(changed)
        output.print(body, body.words)
    }
}
