import Analytics
import ArgumentParser
import Database

struct ListApps: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists apps in the order of their creation.")

    @Option(
        help: ArgumentHelp("List only this project's.", valueName: "project-id"),
        transform: identifier(listedBy: "project list"))
    var project: Project.ID?

    @OptionGroup var output: Output

    func run() throws {
        let apps = try Environment.database().read { try $0.apps(project: project) }
        output.print(
            ["apps": apps.map(AppBody.init)],
            apps.map {
                "\($0.id)  \($0.platform.rawValue.padded(to: 7))  \(($0.bundleID ?? "–").padded(to: 32))  \($0.name)"
            }.joined(separator: "\n"))
    }
}
