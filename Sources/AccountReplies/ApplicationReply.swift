package import Accounts
package import JSON
import Time

/// An application as its developer and administrators see it, without secrets.
package struct ApplicationReply: Encodable {
    package let id: Application.ID
    package let clientID: String
    package let name: String
    package let clientType: String
    package let tokenEndpointAuthMethod: String
    package let redirectURIs: [String]
    package let postLogoutRedirectURIs: [String]
    package let allowedScopes: [String]
    package let status: String
    @Nullable package var appLinkURL: String?
    @Nullable package var webhookURL: String?
    @Nullable package var webhookEvents: [String]?
    @Nullable package var webhookDisabledAt: String?
    @Nullable package var backchannelLogoutURI: String?
    package let scopePolicy: String
    package let notifyAnonymousSwap: Bool
    package let allowAnonymousGrants: Bool
    package let firstParty: Bool
    package let linkedSubDetails: Bool
    package let createdAt: String
    /// Absent if there are no pending changes.
    package let pendingChanges: JSONValue?
    /// Of the developer; absent in the developer's own answers.
    package var ownerUserID: User.ID?
    /// What an operator who approves names; absent in the developer's own answers.
    package var revision: String?

    /// As administrators see it.
    package static func forAdministrators(_ application: RegisteredApplication) -> ApplicationReply {
        var reply = ApplicationReply(application)
        (reply.ownerUserID, reply.revision) = (application.owner, application.revision)
        return reply
    }

    package init(_ application: RegisteredApplication) {
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
