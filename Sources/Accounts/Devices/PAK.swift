/// A personal API key: the server's own bearer key for `/api/v1` (accounts §1.1).
package struct PAK: Sendable {
    package typealias ID = Identifier<PAK>

    /// The scopes of a full PAK, in the order in which they are listed everywhere.
    package static let fullScopes: [Scope] = [
        .profileRead, .profileWrite, .loginHistoryRead, .accountDelete, .agentApprovalsRead, .agentApprovalsManage,
    ]
    /// `fullScopes` as they are stored.
    static let fullScopesText = text(of: fullScopes)
    /// The scopes of a PAK that is bound to an application. They apply only to endpoints that accept such a PAK.
    package static let appBoundScopes: [Scope] = [.profileWrite]
    /// `appBoundScopes` as they are stored.
    static let appBoundScopesText = text(of: appBoundScopes)

    private static func text(of scopes: [Scope]) -> String { scopes.map(\.rawValue).joined(separator: " ") }

    /// How many live PAKs a device keeps.
    static let keptPerDevice = 5
}

package enum Scope: String, Sendable {
    case profileRead = "profile:read"
    case profileWrite = "profile:write"
    case loginHistoryRead = "login_history:read"
    case accountDelete = "account:delete"
    case agentApprovalsRead = "agent_approvals:read"
    case agentApprovalsManage = "agent_approvals:manage"
}

/// A new PAK with the account it opens: the result of every sign-in.
package struct SignedIn: Sendable {
    package var user: User
    package var accessToken: String
    package var scopes: [Scope]
    /// Nil if the sign-in named no device.
    package var device: Device?
    /// Present only if newly made; shown once.
    package var deviceSecret: String?
}
