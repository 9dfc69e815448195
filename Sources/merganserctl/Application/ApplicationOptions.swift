import Accounts
import ArgumentParser
import Configuration

/// The settings of an application that have a default; `none` clears a setting.
struct ApplicationOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Link to its app or site, shown to users of the server's own app.", valueName: "url|none"))
    var appLinkURL: Setting<String>?

    @Option(
        name: .customLong("webhook-url"), help: ArgumentHelp("Where webhook events are sent.", valueName: "url|none"))
    var webhookURL: Setting<String>?

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp(
            "All types of events that are sent to the webhook URL; they replace the old ones. (initially: all)",
            valueName: "type|all"))
    var webhookEvents: [String] = []

    @Option(
        help: ArgumentHelp(
            "The URL that is called when a user signs out or disconnects the application.", valueName: "url|none"))
    var backchannelLogoutURI: Setting<String>?

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp(
            "All URIs that users may be sent to after signing out; they replace the old ones.",
            valueName: "uri|none"))
    var postLogoutRedirectURI: [Setting<String>] = []

    @Option(
        help: ArgumentHelp(
            "What happens to a requested scope that is not allowed: it is refused, dropped, or dropped and audited. "
                + "(initially: block)", valueName: "block|log_only|alert"))
    var scopePolicy: Application.ScopePolicy?

    @Flag(inversion: .prefixedNo, help: "Notify it when one of its anonymous users is swapped into another account.")
    var notifyAnonymousSwap: Bool?

    @Flag(inversion: .prefixedNo, help: "Let anonymous users consent to the application.")
    var allowAnonymousGrants: Bool?

    @Flag(inversion: .prefixedNo, help: "The application is the operator's own: users are not asked for consent.")
    var firstParty: Bool?

    @Flag(inversion: .prefixedNo, help: "Put the claim linked_sub_details into its tokens.")
    var linkedSubDetails: Bool?

    func apply(to changes: inout ApplicationChanges) {
        if let appLinkURL { changes.appLinkURL = .some(appLinkURL.value) }
        if let webhookURL { changes.webhookURL = .some(webhookURL.value) }
        if !webhookEvents.isEmpty { changes.webhookEvents = .some(webhookEvents == ["all"] ? nil : webhookEvents) }
        if let backchannelLogoutURI { changes.backchannelLogoutURI = .some(backchannelLogoutURI.value) }
        if !postLogoutRedirectURI.isEmpty {
            changes.postLogoutRedirectURIs = postLogoutRedirectURI.compactMap(\.value)
        }
        changes.scopePolicy = scopePolicy
        changes.notifyAnonymousSwap = notifyAnonymousSwap
        changes.allowAnonymousGrants = allowAnonymousGrants
        changes.firstParty = firstParty
        changes.linkedSubDetails = linkedSubDetails
    }
}

extension ApplicationChanges {
    /// - Throws: a `ToolError` that says what is wrong.
    func approved() throws -> ApprovedChanges {
        let rules = try Environment.applicationRules()
        do {
            return try ApprovedChanges(self, by: rules)
        } catch {
            throw ToolError(.refused, error.description)
        }
    }
}

extension Environment {
    static func applicationRules() throws -> ApprovedChanges.Rules {
        let deployment = try deployment()
        return ApprovedChanges.Rules(
            issuerHost: deployment.issuer.host, isDevelopment: deployment.environment == .development)
    }
}

extension Application.ScopePolicy: ExpressibleByArgument {}
extension Application.ClientType: ExpressibleByArgument {}
extension Application.Status: ExpressibleByArgument {}
