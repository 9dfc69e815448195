import Analytics
import ArgumentParser

struct CreateAppCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Creates an app; `api-key create` gives it keys.")

    @Option(
        help: ArgumentHelp("The project that the app belongs to.", valueName: "project-id"),
        transform: identifier(listedBy: "project list"))
    var project: Project.ID

    @Option(help: ArgumentHelp("Where the app runs.", valueName: "apple|android|web|backend"))
    var platform: AppPlatform

    @Option(help: "The bundle id that its SDK sends; none for backend. If it is not given, requests need none.")
    var bundleID: String?

    @Option(help: "The app's name, 1 to 200 characters.")
    var name: String

    @OptionGroup var output: Output

    func run() throws {
        let new = NewApp(project: project, name: name, platform: platform, bundleID: bundleID)
        let app = try Analytics.write(Environment.database()) { try $0.createApp(new) }
        output.print(AppBody(app), "app  \(app.id)")
    }
}

extension AppPlatform: ExpressibleByArgument {}
