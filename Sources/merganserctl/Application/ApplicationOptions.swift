import Accounts
import ArgumentParser

/// The settings of an application that have a default; `none` clears.
struct ApplicationOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Where its app or site is, shown to users of the server's own app.", valueName: "url|none"))
    var appLinkURL: Setting<String>?

    @Option(name: .customLong("webhook-url"), help: ArgumentHelp("Where events are sent to.", valueName: "url|none"))
    var webhookURL: Setting<String>?

    @Option(help: ArgumentHelp("Where it is told that a user signed out.", valueName: "url|none"))
    var backchannelLogoutURI: Setting<String>?

    @Option(
        help: ArgumentHelp(
            "What is done with a requested scope that it may not have: refused, dropped, dropped and audited. "
                + "(default: block)", valueName: "block|log_only|alert"))
    var scopePolicy: Application.ScopePolicy?

    @Flag(inversion: .prefixedNo, help: "Tell it when an anonymous user of it is swapped into another account.")
    var notifyAnonymousSwap: Bool?

    @Flag(inversion: .prefixedNo, help: "Let anonymous users consent to it.")
    var allowAnonymousGrants: Bool?

    @Flag(inversion: .prefixedNo, help: "It is the operator's own: users are not asked for consent.")
    var firstParty: Bool?

    @Flag(inversion: .prefixedNo, help: "Give its tokens the claim linked_sub_details.")
    var linkedSubDetails: Bool?

    func apply(to changes: inout ApplicationChanges) {
        if let appLinkURL { changes.appLinkURL = .some(appLinkURL.value) }
        if let webhookURL { changes.webhookURL = .some(webhookURL.value) }
        if let backchannelLogoutURI { changes.backchannelLogoutURI = .some(backchannelLogoutURI.value) }
        changes.scopePolicy = scopePolicy
        changes.notifyAnonymousSwap = notifyAnonymousSwap
        changes.allowAnonymousGrants = allowAnonymousGrants
        changes.firstParty = firstParty
        changes.linkedSubDetails = linkedSubDetails
    }
}

extension ApplicationChanges {
    /// - Throws: `ToolError` that says what is wrong.
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
