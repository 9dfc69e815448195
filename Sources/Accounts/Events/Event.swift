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
    /// The absorbed subs that it reports; their rows name the event.
    var absorbedSubs: [String] = []
}

extension Event {
    /// What every event says of tokens and consents that were ended by a user or the server.
    struct Notice {
        var application: Application.ID
        var canonical: User.ID
        var reason: RevocationReason
    }

    /// Everything that was issued under a sub so far, or one family of it, works no longer.
    static func tokenRevoked(of sub: String, _ notice: Notice) -> Event { notice.event(.tokenRevoked, of: sub) }

    static func consentRevoked(of sub: String, _ scopes: Scopes, _ notice: Notice) -> Event {
        notice.event(.consentRevoked, of: sub, [("scopes", .array(scopes.names.map(JSONValue.string)))])
    }

    /// The person has no consent at this relying party any more, whatever sub it knows them by.
    static func grantsRevoked(of sub: String, _ notice: Notice) -> Event { notice.event(.userGrantsRevoked, of: sub) }
}

extension Event.Notice {
    fileprivate func event(_ kind: Event.Kind, of sub: String, _ more: [(String, JSONValue)] = []) -> Event {
        let data: [(String, JSONValue)] = [
            ("sub", .string(sub)), ("canonical_sub", .string(String(canonical.rawValue))),
            ("reason", .string(reason.rawValue)),
        ]
        return Event(application: application, kind: kind, data: .object(JSONObject(data + more)))
    }
}
