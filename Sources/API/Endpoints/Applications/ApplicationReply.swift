import Accounts
import JSON
import Time

/// An application as its developer sees it, without secrets.
struct ApplicationReply: Encodable {
    let id: Application.ID
    let clientID: String
    let name: String
    let clientType: String
    let tokenEndpointAuthMethod: String
    let redirectURIs: [String]
    let postLogoutRedirectURIs: [String]
    let allowedScopes: [String]
    let status: String
    @Nullable var appLinkURL: String?
    @Nullable var webhookURL: String?
    @Nullable var webhookEvents: [String]?
    @Nullable var webhookDisabledAt: String?
    @Nullable var backchannelLogoutURI: String?
    let scopePolicy: String
    let notifyAnonymousSwap: Bool
    let allowAnonymousGrants: Bool
    let firstParty: Bool
    let linkedSubDetails: Bool
    let createdAt: String
    /// Absent if there are no pending changes.
    let pendingChanges: JSONValue?

    init(_ application: RegisteredApplication) {
        id = application.id
        clientID = application.clientID
        name = application.name
        clientType = application.clientType.rawValue
        tokenEndpointAuthMethod = application.clientType.authenticationMethod
        redirectURIs = application.redirectURIs
        postLogoutRedirectURIs = application.postLogoutRedirectURIs
        allowedScopes = application.allowedScopes.names
        status = application.status.rawValue
        appLinkURL = application.appLinkURL
        webhookURL = application.webhookURL
        webhookEvents = application.webhookEvents
        webhookDisabledAt = application.webhookDisabledAt?.iso8601
        backchannelLogoutURI = application.backchannelLogoutURI
        scopePolicy = application.scopePolicy.rawValue
        notifyAnonymousSwap = application.notifyAnonymousSwap
        allowAnonymousGrants = application.allowAnonymousGrants
        firstParty = application.firstParty
        linkedSubDetails = application.linkedSubDetails
        createdAt = application.createdAt.iso8601
        pendingChanges = application.pendingChanges.isEmpty ? nil : application.pendingChanges.json
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
