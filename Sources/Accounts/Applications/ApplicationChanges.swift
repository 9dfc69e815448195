/// The settings of an application that a developer or an operator sets (accounts §2.1). Nil leaves a setting unchanged,
/// or at its default in a new application; `.some(nil)` clears it.
package struct ApplicationChanges: Sendable {
    package var name: String?
    package var redirectURIs: [String]?
    package var postLogoutRedirectURIs: [String]?
    package var allowedScopes: [String]?
    package var appLinkURL: String??
    package var webhookURL: String??
    /// The types of events that are pushed; `.some(nil)`: all.
    package var webhookEvents: [String]??
    package var backchannelLogoutURI: String??
    package var scopePolicy: Application.ScopePolicy?
    package var notifyAnonymousSwap: Bool?

    // Only the operator sets these.
    package var status: Application.Status?
    package var allowAnonymousGrants: Bool?
    package var firstParty: Bool?
    package var linkedSubDetails: Bool?

    package init() {}

    /// The scopes that an application may ask for by default.
    package static let defaultScopes = ["openid", "profile:basic", "email"]

    /// The columns that are set.
    package var columns: [String] {
        [
            name == nil ? nil : "name", redirectURIs == nil ? nil : "redirect_uris",
            postLogoutRedirectURIs == nil ? nil : "post_logout_redirect_uris",
            allowedScopes == nil ? nil : "allowed_scopes", appLinkURL == nil ? nil : "app_link_url",
            webhookURL == nil ? nil : "webhook_url", webhookEvents == nil ? nil : "webhook_events",
            backchannelLogoutURI == nil ? nil : "backchannel_logout_uri",
            scopePolicy == nil ? nil : "scope_policy", notifyAnonymousSwap == nil ? nil : "notify_anonymous_swap",
            status == nil ? nil : "status", allowAnonymousGrants == nil ? nil : "allow_anonymous_grants",
            firstParty == nil ? nil : "first_party", linkedSubDetails == nil ? nil : "linked_sub_details",
        ].compactMap { $0 }
    }
}

extension RegisteredApplication {
    /// - Parameter changes: checked by `ApprovedChanges`.
    mutating func apply(_ changes: ApplicationChanges) {
        name = changes.name ?? name
        redirectURIs = changes.redirectURIs ?? redirectURIs
        postLogoutRedirectURIs = changes.postLogoutRedirectURIs ?? postLogoutRedirectURIs
        allowedScopes = changes.allowedScopes.map { Scopes($0) } ?? allowedScopes
        if let url = changes.appLinkURL { appLinkURL = url }
        if let url = changes.webhookURL { webhookURL = url }
        if let types = changes.webhookEvents { webhookEvents = types }
        if let uri = changes.backchannelLogoutURI { backchannelLogoutURI = uri }
        scopePolicy = changes.scopePolicy ?? scopePolicy
        notifyAnonymousSwap = changes.notifyAnonymousSwap ?? notifyAnonymousSwap
        status = changes.status ?? status
        allowAnonymousGrants = changes.allowAnonymousGrants ?? allowAnonymousGrants
        firstParty = changes.firstParty ?? firstParty
        linkedSubDetails = changes.linkedSubDetails ?? linkedSubDetails
    }
}
