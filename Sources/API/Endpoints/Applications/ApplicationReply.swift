import Accounts
import JSON

/// An application as its developer sees it; no secret.
struct ApplicationReply: Encodable {
    let id: Application.ID
    let clientID: String
    let name: String
    let clientType: String
    let tokenEndpointAuthMethod: String
    let redirectURIs: [String]
    let allowedScopes: [String]
    let status: String
    @Nullable var appLinkURL: String?
    @Nullable var webhookURL: String?
    @Nullable var backchannelLogoutURI: String?
    let scopePolicy: String
    let notifyAnonymousSwap: Bool
    let allowAnonymousGrants: Bool
    let firstParty: Bool
    let linkedSubDetails: Bool
    let createdAt: String
    /// Absent when nothing waits.
    let pendingChanges: JSONValue?

    init(_ application: RegisteredApplication) {
        id = application.id
        clientID = application.clientID
        name = application.name
        clientType = application.clientType.rawValue
        tokenEndpointAuthMethod = application.clientType.authenticationMethod
        redirectURIs = application.redirectURIs
        allowedScopes = application.allowedScopes.names
        status = application.status.rawValue
        appLinkURL = application.appLinkURL
        webhookURL = application.webhookURL
        backchannelLogoutURI = application.backchannelLogoutURI
        scopePolicy = application.scopePolicy.rawValue
        notifyAnonymousSwap = application.notifyAnonymousSwap
        allowAnonymousGrants = application.allowAnonymousGrants
        firstParty = application.firstParty
        linkedSubDetails = application.linkedSubDetails
        createdAt = application.createdAt.iso8601
        pendingChanges = application.pendingChanges.isEmpty ? nil : application.pendingChanges.json
    }

    private enum CodingKeys: String, CodingKey {
        case id
        case clientID = "client_id"
        case name
        case clientType = "client_type"
        case tokenEndpointAuthMethod = "token_endpoint_auth_method"
        case redirectURIs = "redirect_uris"
        case allowedScopes = "allowed_scopes"
        case status
        case appLinkURL = "app_link_url"
        case webhookURL = "webhook_url"
        case backchannelLogoutURI = "backchannel_logout_uri"
        case scopePolicy = "scope_policy"
        case notifyAnonymousSwap = "notify_anonymous_swap"
        case allowAnonymousGrants = "allow_anonymous_grants"
        case firstParty = "first_party"
        case linkedSubDetails = "linked_sub_details"
        case createdAt = "created_at"
        case pendingChanges = "pending_changes"
    }
}

/// A webhook key with its secret, which is shown once.
struct WebhookKeyReply: Encodable {
    let kid: String
    let secret: String

    init(_ key: WebhookKey) {
        kid = key.keyID
        secret = key.secret
    }
}
