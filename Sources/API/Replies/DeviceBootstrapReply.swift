import Accounts
import JSON
import Text

/// The DeviceBootstrapResponse of accounts §1.2: what every sign-in answers.
struct DeviceBootstrapReply: Encodable {
    var user: UserReply
    var accessToken: String
    var tokenType = "Bearer"
    var scopes: [String]
    /// Only a swap has it.
    var merged: MergedReply?
    var needsOnboarding: Bool
    @Nullable var device: DeviceReply?
    var deviceSecret: String?

    private enum CodingKeys: String, CodingKey {
        case user
        case accessToken = "access_token"
        case tokenType = "token_type"
        case scopes
        case merged
        case needsOnboarding = "needs_onboarding"
        case device
        case deviceSecret = "device_secret"
    }

    init(_ signedIn: SignedIn, merged: MergedCounts? = nil) {
        user = UserReply(signedIn.user)
        accessToken = signedIn.accessToken
        scopes = signedIn.scopes.map(\.rawValue)
        self.merged = merged.map(MergedReply.init)
        needsOnboarding = signedIn.user.contactEmail.isBlank
        device = signedIn.device.map(DeviceReply.init)
        deviceSecret = signedIn.deviceSecret
    }
}

/// Exactly these four members in every DeviceBootstrapResponse.
struct UserReply: Encodable {
    var id: User.ID
    @Nullable var contactEmail: String?
    @Nullable var name: String?
    var anonymous: Bool

    private enum CodingKeys: String, CodingKey {
        case id
        case contactEmail = "contact_email"
        case name
        case anonymous
    }

    init(_ user: User) {
        id = user.id
        contactEmail = user.contactEmail
        name = user.name
        anonymous = user.anonymous
    }
}

struct DeviceReply: Encodable {
    var id: Device.ID
    var deviceUUID: String
    var platform: String
    var attestationVerified: Bool
    var firstSeenAt: String
    var lastSeenAt: String

    private enum CodingKeys: String, CodingKey {
        case id
        case deviceUUID = "device_uuid"
        case platform
        case attestationVerified = "attestation_verified"
        case firstSeenAt = "first_seen_at"
        case lastSeenAt = "last_seen_at"
    }

    init(_ device: Device) {
        id = device.id
        deviceUUID = device.uuid
        platform = device.platform
        attestationVerified = device.attestationVerified
        firstSeenAt = device.firstSeenAt.iso8601
        lastSeenAt = device.lastSeenAt.iso8601
    }
}

/// How much a swap moved, as clients tell people.
struct MergedReply: Encodable {
    struct Skippable: Encodable {
        var transferred: Int
        var skippedDuplicate: Int

        private enum CodingKeys: String, CodingKey {
            case transferred
            case skippedDuplicate = "skipped_duplicate"
        }
    }

    struct Union: Encodable {
        var transferred: Int
    }

    var rps: Skippable
    var agentApprovals: Skippable
    var notifications: Union

    private enum CodingKeys: String, CodingKey {
        case rps
        case agentApprovals = "agent_approvals"
        case notifications
    }

    init(_ counts: MergedCounts) {
        rps = Skippable(transferred: counts.grantsTransferred, skippedDuplicate: counts.grantsSkipped)
        agentApprovals = Skippable(transferred: counts.approvalsTransferred, skippedDuplicate: counts.approvalsSkipped)
        notifications = Union(transferred: counts.notificationsTransferred)
    }
}
