import Analytics
import ArgumentParser
import Database

struct ShowProject: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "show", abstract: "Shows one project's settings.")

    @Argument(help: "The project's id.", transform: identifier(listedBy: "project list"))
    var project: Project.ID

    @OptionGroup var output: Output

    func run() throws {
        guard let found = try Environment.database().read({ try $0.project(project) }) else {
            throw ToolError(.notFound, "there is no project \(project); `merganserctl project list` shows them")
        }
        let body = ProjectBody(found)
        output.print(body, body.words)
    }
}
