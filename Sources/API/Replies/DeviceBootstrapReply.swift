import Accounts
import JSON
import Text
import Time

/// The DeviceBootstrapResponse of accounts §1.2: the answer to every sign-in.
struct DeviceBootstrapReply: Encodable {
    var user: UserReply
    var accessToken: String
    var tokenType = "Bearer"
    var scopes: [String]
    /// Present only in the answer to a swap.
    var merged: MergedReply?
    var needsOnboarding: Bool
    @Nullable var device: DeviceReply?
    var deviceSecret: String?
    var claims: [AccountClaimReply]?

    init(_ signedIn: SignedIn, merged: SwapCounts? = nil, claims: [AccountClaimReply]?) {
        user = UserReply(signedIn.user)
        accessToken = signedIn.accessToken
        scopes = signedIn.scopes.map(\.rawValue)
        self.merged = merged.map(MergedReply.init)
        needsOnboarding = signedIn.user.contactEmail.isBlank
        device = signedIn.device.map(DeviceReply.init)
        deviceSecret = signedIn.deviceSecret
        self.claims = claims
    }
}

/// Every DeviceBootstrapResponse has exactly these four members.
struct UserReply: Encodable {
    var id: User.ID
    @Nullable var contactEmail: String?
    @Nullable var name: String?
    var anonymous: Bool

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

    init(_ device: Device) {
        id = device.id
        deviceUUID = device.uuid
        platform = device.platform
        attestationVerified = device.attestationVerified
        firstSeenAt = device.firstSeenAt.iso8601
        lastSeenAt = device.lastSeenAt.iso8601
    }
}

/// How much a swap moved, so that clients can show it.
struct MergedReply: Encodable {
    struct Skippable: Encodable {
        var transferred: Int
        var skippedDuplicate: Int
    }

    struct Union: Encodable {
        var transferred: Int
    }

    var rps: Skippable
    var agentApprovals: Skippable
    var notifications: Union

    init(_ counts: SwapCounts) {
        rps = Skippable(transferred: counts.grantsTransferred, skippedDuplicate: counts.grantsSkipped)
        agentApprovals = Skippable(transferred: counts.approvalsTransferred, skippedDuplicate: counts.approvalsSkipped)
        notifications = Union(transferred: counts.notificationsTransferred)
    }
}
