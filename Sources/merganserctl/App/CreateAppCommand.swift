import Analytics
import ArgumentParser

struct CreateAppCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Creates an app; `api-key create` gives it keys.")

    @Option(
        help: ArgumentHelp("The project it belongs to.", valueName: "project-id"),
        transform: identifier(listedBy: "project list"))
    var project: Project.ID

    @Option(help: ArgumentHelp("Where it runs.", valueName: "apple|android|web|backend"))
    var platform: Platform

    @Option(help: "What its SDK sends along; none for backend. Without one it is not asked for.")
    var bundleID: String?

    @Option(help: "What it is called, 1 to 200 characters.")
    var name: String

    @OptionGroup var output: Output

    func run() throws {
        let new = NewApp(project: project, name: name, platform: platform, bundleID: bundleID)
        let app = try Analytics.write(Environment.database()) { try $0.createApp(new) }
        output.print(AppBody(app), "app  \(app.id)")
    }
}

extension Platform: ExpressibleByArgument {}
