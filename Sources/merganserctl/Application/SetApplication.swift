import Accounts
import ArgumentParser

struct SetApplication: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Changes settings of an application, those that are given, at once.",
        discussion: "A value that is given here replaces one that waits for approval.")

    @Argument(help: "Its client_id.")
    var clientID: String

    @Option(help: ArgumentHelp("Only active applications work.", valueName: "active|pending|suspended"))
    var status: Application.Status?

    @Option(help: "What users see, 1 to 200 characters.")
    var name: String?

    @Option(parsing: .upToNextOption, help: "Where its users are sent back to, all of them.")
    var redirectURI: [String] = []

    @Option(parsing: .upToNextOption, help: "What it may ask for, all of it.")
    var scope: [String] = []

    @OptionGroup var options: ApplicationOptions
    @OptionGroup var output: Output

    private var changes: ApplicationChanges {
        var changes = ApplicationChanges()
        changes.status = status
        changes.name = name
        changes.redirectURIs = redirectURI.isEmpty ? nil : redirectURI
        changes.allowedScopes = scope.isEmpty ? nil : scope
        options.apply(to: &changes)
        return changes
    }

    func validate() throws {
        if changes.columns.isEmpty {
            throw ValidationError("Nothing to change; name a setting, such as --status active.")
        }
    }

    func run() throws {
        let approved = try changes.approved()
        let body = try ApplicationBody.after { try $0.setApplication(clientID, approved) }
        output.print(body, body.words)
    }
}
