/// The server's own bearer key for `/api/v1` (accounts §1.1).
package struct PAK: Sendable {
    package typealias ID = Identifier<PAK>

    /// What a full PAK may do, in the order it is always listed.
    package static let fullScopes: [Scope] = [
        .profileRead, .profileWrite, .loginHistoryRead, .accountDelete, .agentApprovalsRead, .agentApprovalsManage,
    ]
    /// What a PAK bound to an application may do, and that only where an endpoint says so.
    package static let appBoundScopes: [Scope] = [.profileWrite]

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

/// A credential that was just made, with the account it opens: what every sign-in answers.
package struct SignedIn: Sendable {
    package var user: User
    package var accessToken: String
    package var scopes: [Scope]
    /// Nil when the sign-in named no device.
    package var device: Device?
    /// Only when newly made; shown once.
    package var deviceSecret: String?
}
