package import Fetch
import Text

/// Changes that have passed every check. Only these are written.
package struct ApprovedChanges: Sendable {
    package let changes: ApplicationChanges

    /// What the checks depend on, besides the changes.
    package struct Rules: Sendable {
        /// The host of this server's issuer, in lower case.
        let issuerHost: String
        /// Whether webhooks may be sent to this machine.
        let isDevelopment: Bool

        package init(issuerHost: String, isDevelopment: Bool) {
            self.issuerHost = issuerHost
            self.isDevelopment = isDevelopment
        }
    }

    /// Checks every setting that is given. This may take seconds, because host names are resolved, so it must not be
    /// called in a transaction. A host that cannot be resolved now is checked again when something is sent to it
    /// (accounts §3.5).
    package init(_ changes: ApplicationChanges, by rules: Rules) throws(InvalidApplication) {
        if let name = changes.name { try Self.check(name: name) }
        if let uris = changes.redirectURIs {
            guard (1...20).contains(uris.count) else { throw .redirectURICount(uris.count) }
            try Self.check(redirectURIs: uris, rules)
        }
        if let uris = changes.postLogoutRedirectURIs {
            guard uris.count <= 20 else { throw .postLogoutRedirectURICount(uris.count) }
            try Self.check(redirectURIs: uris, rules)
        }
        if let scopes = changes.allowedScopes { try Self.check(scopes: scopes) }
        if let url = changes.appLinkURL ?? nil, !RedirectURI.isLink(url) { throw .appLink(url) }
        if let types = changes.webhookEvents ?? nil { try Self.check(webhookEvents: types) }
        for url in [changes.webhookURL, changes.backchannelLogoutURI] {
            if let url = url ?? nil { try Self.check(outboundURL: url, rules) }
        }
        self.changes = changes
    }

    /// Whether the checks would resolve host names.
    package static func takesLong(_ changes: ApplicationChanges) -> Bool {
        [changes.webhookURL, changes.backchannelLogoutURI].contains { ($0 ?? nil) != nil }
    }

    private static func check(name: String) throws(InvalidApplication) {
        guard !Optional(name).isBlank, name.unicodeScalars.count <= 200,
            DisplayName.isAcceptable(name)
        else { throw .name }
    }

    private static func check(redirectURIs: [String], _ rules: Rules) throws(InvalidApplication) {
        for uri in redirectURIs {
            do throws(InvalidRedirectURI) {
                _ = try RedirectURI(uri, issuerHost: rules.issuerHost)
            } catch {
                throw .redirectURI(error)
            }
        }
    }

    private static func check(scopes: [String]) throws(InvalidApplication) {
        if scopes.count > Scopes.countLimit { throw .scopeCount(scopes.count) }
        for scope in scopes where !Scopes.standard.contains(scope) && !isCustom(scope) { throw .scope(scope) }
    }

    /// `<namespace>:<key>` with exactly one colon.
    private static func isCustom(_ scope: String) -> Bool {
        let parts = scope.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        return parts.count == 2 && scope.utf8.count <= Scopes.nameLimit
            && parts.allSatisfy { !$0.isEmpty && $0.allSatisfy(PercentEncoding.isUnreserved) }
    }

    private static func check(webhookEvents types: [String]) throws(InvalidApplication) {
        guard (1...Event.Kind.allCases.count).contains(types.count), Set(types).count == types.count else {
            throw .webhookEvents
        }
        for type in types where Event.Kind(rawValue: type) == nil { throw .webhookEvent(type) }
    }

    private static func check(outboundURL text: String, _ rules: Rules) throws(InvalidApplication) {
        do throws(ForbiddenURL) {
            _ = try OutboundURL(text, allowsLoopbackHTTP: rules.isDevelopment).resolve(within: .seconds(2))
        } catch {
            throw .outboundURL(text, error)
        }
    }
}

/// Why the settings of an application are refused. The text says what to do.
package enum InvalidApplication: Error, CustomStringConvertible {
    case name
    case redirectURICount(Int)
    case postLogoutRedirectURICount(Int)
    case redirectURI(InvalidRedirectURI)
    case scopeCount(Int)
    case scope(String)
    case appLink(String)
    case webhookEvents
    case webhookEvent(String)
    case outboundURL(String, ForbiddenURL)

    package var failure: Failure {
        switch self {
        case .redirectURI(let invalid): .invalidRedirectURI(invalid.reason)
        case .outboundURL: .invalidWebhookURL
        case .name, .redirectURICount, .postLogoutRedirectURICount, .scopeCount, .scope, .appLink, .webhookEvents,
            .webhookEvent:
            .invalidRequest
        }
    }

    package var description: String {
        switch self {
        case .name:
            "the name must have 1 to 200 characters, at least one of them visible; no control characters, and none "
                + "that change the direction of text"
        case .redirectURICount(let count): "an application has 1 to 20 redirect URIs, not \(count)"
        case .postLogoutRedirectURICount(let count):
            "an application has at most 20 post-logout redirect URIs, not \(count)"
        case .redirectURI(let invalid): invalid.description
        case .scopeCount(let count): "an application has at most \(Scopes.countLimit) scopes, not \(count)"
        case .scope(let scope):
            "\"\(scope)\" is not a scope; use one of \(Scopes.standard.joined(separator: ", ")), "
                + "or <namespace>:<key> for a custom claim"
        case .appLink(let url): "the app link \"\(url)\" is refused; use https, or a scheme of the app's own"
        case .webhookEvents: "name at least one type of event, and each once"
        case .webhookEvent(let type):
            "there are no events of type \"\(type)\"; the types are "
                + Event.Kind.allCases.map(\.rawValue).joined(separator: ", ")
        case .outboundURL(let url, let reason): "\"\(url)\" is refused: \(reason)"
        }
    }
}
