import IdentityTokens
import JSON

/// One row of the append-only audit log (accounts §0.6).
struct AuditEntry {
    enum Action: String {
        case userCreated = "user.created"
        case userPromoted = "user.promoted"
        case userSwapped = "user.swapped"
        case userMerged = "user.merged"
        case userUnlinked = "user.unlinked"
        case userDeleted = "user.deleted"
        case userRestored = "user.restored"
        case userPurged = "user.purged"
        case userPruned = "user.pruned"
        case userUpdated = "user.updated"
        case userRoleChanged = "user.role_changed"
        case userExported = "user.exported"
        case identityLinked = "identity.linked"
        case identityUnlinked = "identity.unlinked"
        case appleNotified = "apple.notified"
        case deviceCreated = "device.created"
        case deviceReassigned = "device.reassigned"
        case deviceSecretRotated = "device.secret_rotated"
        case deviceSecretVoided = "device.secret_voided"
        case deviceRemoved = "device.removed"
        case grantCreated = "grant.created"
        case grantRevoked = "grant.revoked"
        case tokensRevoked = "tokens.revoked"
        case pushApprovalDecided = "push_approval.decided"
        case scopeDropped = "scope.dropped"
        case pakIssued = "pak.issued"
        case pakRevoked = "pak.revoked"
        case agentCreated = "agent.created"
        case agentRevoked = "agent.revoked"
        case approvalDecided = "approval.decided"
        case applicationCreated = "application.created"
        case applicationUpdated = "application.updated"
        case applicationApproved = "application.approved"
        case applicationChangesRequested = "application.changes_requested"
        case applicationChangesWithdrawn = "application.changes_withdrawn"
        case applicationChangesRefused = "application.changes_refused"
        case applicationSecretRotated = "application.secret_rotated"
        case webhookKeyCreated = "webhook_key.created"
        case webhookKeyCompromised = "webhook_key.compromised"
        case webhookDisabled = "webhook.disabled"
        case webhookEnabled = "webhook.enabled"
        case webhookReplayed = "webhook.replayed"
        case signingKeyGenerated = "signing_key.generated"
        case signingKeyActivated = "signing_key.activated"
        case serverKeyRotated = "server_key.rotated"
        case claimRefused = "claim.refused"
        case sessionsRevoked = "sessions.revoked"
        case administrationRead = "administration.read"
    }

    /// Who did it: a user by id, a relying party, an identity provider, or the operator's tool.
    enum Actor {
        case user(User.ID)
        case application(Application.ID)
        case provider(Provider)
        case `operator`

        var text: String {
            switch self {
            case .user(let id): "user:\(id.rawValue)"
            case .application(let id): "application:\(id.rawValue)"
            case .provider(let provider): "provider:\(provider.rawValue)"
            case .operator: "operator"
            }
        }
    }

    /// Must not contain secrets or tokens.
    typealias Details = KeyValuePairs<String, JSONValue>

    var action: Action
    var user: User.ID?
    var actor: Actor
    var details: [(String, JSONValue)]
}
