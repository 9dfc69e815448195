package import Time

/// An application as its developer and operators see it. It has no secrets: the database has only digests of them.
package struct RegisteredApplication: Sendable {
    package internal(set) var id: Application.ID
    package internal(set) var clientID: String
    package internal(set) var name: String
    package internal(set) var clientType: Application.ClientType
    package internal(set) var status: Application.Status
    package internal(set) var redirectURIs: [String]
    /// Where people may be sent after signing out; may be empty.
    package internal(set) var postLogoutRedirectURIs: [String] = []
    package internal(set) var allowedScopes: Scopes
    package internal(set) var appLinkURL: String?
    package internal(set) var webhookURL: String?
    /// The types of events that are pushed; nil: all.
    package internal(set) var webhookEvents: [String]?
    package internal(set) var backchannelLogoutURI: String?
    package internal(set) var scopePolicy: Application.ScopePolicy
    package internal(set) var notifyAnonymousSwap: Bool
    package internal(set) var allowAnonymousGrants: Bool
    package internal(set) var firstParty: Bool
    package internal(set) var linkedSubDetails: Bool
    package internal(set) var owner: User.ID?
    package internal(set) var createdAt: Timestamp
    package internal(set) var pendingChanges = PendingChanges()
    /// Since when no events are sent, because its receiver was gone or failed for days (accounts §3.4).
    package internal(set) var webhookDisabledAt: Timestamp?
}
