import Time

/// A registered OAuth client: a relying party (accounts §2.1).
package struct Application: Sendable {
    package typealias ID = Identifier<Application>

    package enum ClientType: String, Sendable, CaseIterable {
        case `public`, confidential

        /// The `token_endpoint_auth_method` (RFC 7591 §2); confidential clients may post their secret, too.
        package var authenticationMethod: String {
            switch self {
            case .public: "none"
            case .confidential: "client_secret_basic"
            }
        }
    }

    /// Only active applications can be used.
    package enum Status: String, Sendable, CaseIterable {
        case pending, active, suspended
    }

    /// What happens to a requested scope that the application may not have.
    package enum ScopePolicy: String, Sendable, CaseIterable {
        case block
        /// It is dropped silently.
        case logOnly = "log_only"
        /// It is dropped, and an entry is written to the audit log.
        case alert
    }

    package var id: ID
    package var clientID: String
    package var name: String
    package var clientType: ClientType
    package var status: Status
    package var redirectURIs: [String]
    package var allowedScopes: Scopes
    package var appLinkURL: String?
    package var scopePolicy: ScopePolicy
    package var allowAnonymousGrants: Bool
    package var firstParty: Bool
    var secrets = ClientSecrets()
    /// When a scope was last dropped from one of its requests.
    var scopeDroppedAt: Timestamp?

    package var isActive: Bool { status == .active }

    /// Whether token answers should warn the developer about dropped scopes (accounts §2.5).
    func hasScopeDrift(at now: Timestamp) -> Bool { AuthorizationFault.isDrift(scopeDroppedAt, at: now) }
}
