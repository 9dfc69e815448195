import JSON
import Time

/// An event for one relying party (accounts §3.3). Each type has one function that makes it, in a file of this folder, so
/// that no two paths tell of the same thing in different words.
struct Event {
    /// Every type that a relying party may ask for, also those that nothing causes yet.
    enum Kind: String, CaseIterable {
        case userMerged = "user.merged"
        case userUnlinked = "user.unlinked"
        case userPromoted = "user.promoted"
        case tokenRevoked = "token.revoked"
        case consentRevoked = "consent.revoked"
        case userGrantsRevoked = "user.grants_revoked"
        case userDeleted = "user.deleted"
        case userRestored = "user.restored"
        case userPurged = "user.purged"
        case webhookKeyCompromised = "webhook_key.compromised"
        case webhookTest = "webhook.test"

        /// Whether it is pushed whatever types the application asked for.
        var isAlwaysPushed: Bool { self == .webhookTest }
    }

    var application: Application.ID
    var kind: Kind
    /// All members of the event's `data`.
    var data: JSONValue
    /// The absorbed subs that the event reports. The event's id is stored in their rows.
    var absorbedSubs: [String] = []
    /// The merge that it tells of.
    var identityLink: IdentityLink.ID?

    /// How long an event can be polled, delivered or not.
    static let lifetime = Duration.seconds(30 * 86_400)

    static func id(_ ulid: ULID) -> String { "evt_" + ulid.text }

    /// Between the ids of all events before a time and those of all events since.
    static func firstID(at time: Timestamp) -> String { id(ULID(earliestAt: time)) }

    /// When an event was written.
    static func time(ofID id: String) -> Timestamp { ULID(text: String(id.dropFirst(4))).timestamp }
}
