import Accounts
import ArgumentParser

struct CreateApplicationCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Registers an application; it is active at once.",
        discussion: """
            A confidential client's secret and the webhook key are shown only here. The database keeps a digest of the \
            secret, and the webhook key encrypted. With --secret-from-stdin the client gets a secret that deployed clients \
            already have, and the secret is not shown.
            """)

    @Option(help: "The name that users see, 1 to 200 characters.")
    var name: String

    @Option(help: ArgumentHelp("Whether the application can keep a secret.", valueName: "public|confidential"))
    var clientType: Application.ClientType

    @Option(
        parsing: .upToNextOption,
        help: "A redirect URI, 1 to 20 in all: https, http to this machine, or an app's own scheme.")
    var redirectURI: [String]

    @Option(help: "A client_id that deployed clients already have. (default: a new one)")
    var clientID: String?

    @Flag(
        name: .customLong("secret-from-stdin"),
        help: "Read a confidential client's secret, 16 to 256 characters, from standard input. (default: a new one)")
    var takesSecret = false

    @Option(
        parsing: .upToNextOption,
        help: "A scope that it may request: \(Scopes.standard.joined(separator: ", ")), or <namespace>:<key>.")
    var scope: [String] = ApplicationChanges.defaultScopes

    @OptionGroup var options: ApplicationOptions
    @OptionGroup var output: Output

    func run() throws {
        var changes = ApplicationChanges()
        changes.name = name
        changes.redirectURIs = redirectURI
        changes.allowedScopes = scope
        options.apply(to: &changes)
        let (new, serverKey) = (try changes.approved(), try Environment.serverKey())
        let given = takesSecret ? try SecretInput.read() : nil
        let made = try Accounts.write(Environment.database(), from: .command) {
            try $0.createApplication(new, clientType, clientID: clientID, clientSecret: given, serverKey: serverKey)
        }
        let secret = made.clientSecret.map { ["client_secret   \($0)"] } ?? []
        let words =
            ["client_id       \(made.application.clientID)"] + secret + [
                "webhook kid     \(made.webhookKey.keyID)", "webhook secret  \(made.webhookKey.secret)",
            ]
        output.print(Result(made), words.joined(separator: "\n"))
    }

    private struct Result: Encodable {
        let id: Application.ID
        let clientID: String
        let clientType: String
        let tokenEndpointAuthMethod: String
        let redirectURIs: [String]
        let allowedScopes: [String]
        let status: String
        let clientSecret: String?
        let webhookKey: Key

        struct Key: Encodable {
            let kid: String
            let secret: String
        }

        init(_ made: Registration) {
            let application = made.application
            id = application.id
            clientID = application.clientID
            clientType = application.clientType.rawValue
            tokenEndpointAuthMethod = application.clientType.authenticationMethod
            redirectURIs = application.redirectURIs
            allowedScopes = application.allowedScopes.names
            status = application.status.rawValue
            clientSecret = made.clientSecret
            webhookKey = Key(kid: made.webhookKey.keyID, secret: made.webhookKey.secret)
        }
    }
}
