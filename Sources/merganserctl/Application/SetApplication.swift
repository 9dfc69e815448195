import Accounts
import ArgumentParser

struct SetApplication: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Changes the given settings of an application at once.",
        discussion: "If a setting has a pending value, the value given here replaces it.")

    @Argument(help: "The application's client_id.")
    var clientID: String

    @Option(help: ArgumentHelp("The status; only active applications work.", valueName: "active|pending|suspended"))
    var status: Application.Status?

    @Option(help: "The name that users see, 1 to 200 characters.")
    var name: String?

    @Option(parsing: .upToNextOption, help: "All redirect URIs; they replace the old ones.")
    var redirectURI: [String] = []

    @Option(parsing: .upToNextOption, help: "All scopes that it may request; they replace the old ones.")
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
