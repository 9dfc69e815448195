import Accounts

struct ApplicationBody: Encodable {
    let id: Application.ID
    let clientID: String
    let name: String
    let clientType: String
    let redirectURIs: [String]
    let allowedScopes: [String]
    let status: String
    let allowAnonymousGrants: Bool
    let notifyAnonymousSwap: Bool
    let firstParty: Bool
    let createdAt: String
    let liveGrants: Int

    init(_ application: ApplicationSummary) {
        id = application.id
        clientID = application.clientID
        name = application.name
        clientType = application.clientType
        redirectURIs = application.redirectURIs
        allowedScopes = application.allowedScopes
        status = application.status
        allowAnonymousGrants = application.allowAnonymousGrants
        notifyAnonymousSwap = application.notifyAnonymousSwap
        firstParty = application.firstParty
        createdAt = application.createdAt.iso8601
        liveGrants = application.liveGrants
    }

    private enum CodingKeys: String, CodingKey {
        case id
        case clientID = "client_id"
        case name
        case clientType = "client_type"
        case redirectURIs = "redirect_uris"
        case allowedScopes = "allowed_scopes"
        case status
        case allowAnonymousGrants = "allow_anonymous_grants"
        case notifyAnonymousSwap = "notify_anonymous_swap"
        case firstParty = "first_party"
        case createdAt = "created_at"
        case liveGrants = "live_grants"
    }

    var words: String {
        """
        client_id      \(clientID)
        name           \(name)
        type           \(clientType)
        status         \(status)
        redirect URIs  \(redirectURIs.joined(separator: "\n               "))
        scopes         \(allowedScopes.joined(separator: " "))
        flags          \(flags.isEmpty ? "none" : flags.joined(separator: " "))
        live grants    \(liveGrants)
        created        \(createdAt)
        """
    }

    private var flags: [String] {
        [
            allowAnonymousGrants ? "allow_anonymous_grants" : nil, notifyAnonymousSwap ? "notify_anonymous_swap" : nil,
            firstParty ? "first_party" : nil,
        ].compactMap { $0 }
    }
}
