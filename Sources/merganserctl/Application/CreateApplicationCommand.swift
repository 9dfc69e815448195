import Accounts
import ArgumentParser
import Configuration

struct CreateApplicationCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Registers an application; it is active at once.",
        discussion: "A confidential client's secret is shown here only. The database keeps a digest of it.")

    @Option(help: "What users see, 1 to 200 characters.")
    var name: String

    @Option(help: ArgumentHelp("Whether it can keep a secret.", valueName: "public|confidential"))
    var clientType: NewApplication.ClientType

    @Option(
        parsing: .upToNextOption,
        help: "Where its users are sent back to; 1 to 20: https, http to this machine, or an app's own scheme.")
    var redirectURI: [String]

    @Option(help: "A client_id that deployed clients have already. (default: a fresh one)")
    var clientID: String?

    @Option(
        parsing: .upToNextOption,
        help: "What it may ask for: \(NewApplication.standardScopes.joined(separator: ", ")), or <namespace>:<key>.")
    var scope: [String] = ["openid", "profile:basic", "email"]

    @Flag(help: "Let anonymous users consent to it.")
    var allowAnonymousGrants = false

    @Flag(help: "Tell it when an anonymous user of it is swapped into another account.")
    var notifyAnonymousSwap = false

    @OptionGroup var output: Output

    func run() throws {
        let issuer = try Environment.deployment().issuer
        let redirectURIs: [RedirectURI]
        do {
            redirectURIs = try redirectURI.map { text throws(InvalidRedirectURI) in
                try RedirectURI(text, issuerHost: issuer.host)
            }
        } catch {
            throw ToolError(.refused, error.description)
        }
        let new = NewApplication(
            name: name, clientType: clientType, redirectURIs: redirectURIs, clientID: clientID, allowedScopes: scope,
            allowAnonymousGrants: allowAnonymousGrants, notifyAnonymousSwap: notifyAnonymousSwap)
        let created = try Operation.run { try $0.createApplication(new) }
        let result = Result(
            id: created.id, clientID: created.clientID, clientType: clientType.rawValue,
            tokenEndpointAuthMethod: clientType == .public ? "none" : "client_secret_basic",
            redirectURIs: redirectURI, allowedScopes: scope, status: "active", clientSecret: created.secret)
        output.print(
            result,
            (["client_id      \(created.clientID)"] + (created.secret.map { ["client_secret  \($0)"] } ?? []))
                .joined(separator: "\n"))
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

        private enum CodingKeys: String, CodingKey {
            case id
            case clientID = "client_id"
            case clientType = "client_type"
            case tokenEndpointAuthMethod = "token_endpoint_auth_method"
            case redirectURIs = "redirect_uris"
            case allowedScopes = "allowed_scopes"
            case status
            case clientSecret = "client_secret"
        }
    }
}

extension NewApplication.ClientType: ExpressibleByArgument {}
