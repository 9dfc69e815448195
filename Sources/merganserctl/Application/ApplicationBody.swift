import Accounts
import JSON

struct ApplicationBody: Encodable {
    let id: Application.ID
    let clientID: String
    let name: String
    let clientType: String
    let redirectURIs: [String]
    let allowedScopes: [String]
    let status: String
    @Nullable var appLinkURL: String?
    @Nullable var webhookURL: String?
    @Nullable var backchannelLogoutURI: String?
    let scopePolicy: String
    let allowAnonymousGrants: Bool
    let notifyAnonymousSwap: Bool
    let firstParty: Bool
    let linkedSubDetails: Bool
    @Nullable var owner: User.ID?
    let createdAt: String
    let liveGrants: Int

    init(_ application: RegisteredApplication, liveGrants: Int) {
        id = application.id
        clientID = application.clientID
        name = application.name
        clientType = application.clientType.rawValue
        redirectURIs = application.redirectURIs
        allowedScopes = application.allowedScopes.names
        status = application.status.rawValue
        appLinkURL = application.appLinkURL
        webhookURL = application.webhookURL
        backchannelLogoutURI = application.backchannelLogoutURI
        scopePolicy = application.scopePolicy.rawValue
        allowAnonymousGrants = application.allowAnonymousGrants
        notifyAnonymousSwap = application.notifyAnonymousSwap
        firstParty = application.firstParty
        linkedSubDetails = application.linkedSubDetails
        owner = application.owner
        createdAt = application.createdAt.iso8601
        self.liveGrants = liveGrants
    }

    private enum CodingKeys: String, CodingKey {
        case id
        case clientID = "client_id"
        case name
        case clientType = "client_type"
        case redirectURIs = "redirect_uris"
        case allowedScopes = "allowed_scopes"
        case status
        case appLinkURL = "app_link_url"
        case webhookURL = "webhook_url"
        case backchannelLogoutURI = "backchannel_logout_uri"
        case scopePolicy = "scope_policy"
        case allowAnonymousGrants = "allow_anonymous_grants"
        case notifyAnonymousSwap = "notify_anonymous_swap"
        case firstParty = "first_party"
        case linkedSubDetails = "linked_sub_details"
        case owner = "owner_user_id"
        case createdAt = "created_at"
        case liveGrants = "live_grants"
    }

    var words: String {
        """
        client_id      \(clientID)
        name           \(name)
        type           \(clientType)
        status         \(status)
        owner          \(owner.map { "user \($0.rawValue)" } ?? "the operator")
        redirect URIs  \(redirectURIs.joined(separator: "\n               "))
        scopes         \(allowedScopes.joined(separator: " "))
        scope policy   \(scopePolicy)
        app link       \(appLinkURL ?? "none")
        webhook        \(webhookURL ?? "none")
        sign-out       \(backchannelLogoutURI ?? "none")
        flags          \(flags.isEmpty ? "none" : flags.joined(separator: " "))
        live grants    \(liveGrants)
        created        \(createdAt)
        """
    }

    private var flags: [String] {
        [
            allowAnonymousGrants ? "allow_anonymous_grants" : nil, notifyAnonymousSwap ? "notify_anonymous_swap" : nil,
            firstParty ? "first_party" : nil, linkedSubDetails ? "linked_sub_details" : nil,
        ].compactMap { $0 }
    }
}
