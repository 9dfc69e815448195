import JSON

/// An event for one relying party (accounts §3.3).
struct Event {
    enum Kind: String {
        case userMerged = "user.merged"
        case tokenRevoked = "token.revoked"
        case consentRevoked = "consent.revoked"
        case userGrantsRevoked = "user.grants_revoked"
    }

    var application: Application.ID
    var kind: Kind
    /// Every member of the event's `data`.
    var data: JSONValue
    /// The absorbed subs that it tells of, whose rows name the event.
    var absorbedSubs: [String] = []
}
