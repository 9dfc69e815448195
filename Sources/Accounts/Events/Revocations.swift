import JSON

/// Why tokens or a consent were revoked, if not by their relying party (accounts §3.3).
package enum RevocationReason: String, Sendable {
    case userDisconnected = "user_disconnected"
    case accountDeleted = "account_deleted"
    case pruned
    case refreshReuse = "refresh_reuse"
    case codeReplay = "code_replay"
    case `operator`
}

extension Event {
    /// The data that all events about revoked tokens and consents have.
    struct Notice {
        var application: Application.ID
        var canonical: User.ID
        var reason: RevocationReason
    }

    /// All tokens of a sub, or one family of them, are revoked.
    static func tokenRevoked(of sub: String, _ notice: Notice) -> Event { notice.event(.tokenRevoked, of: sub) }

    static func consentRevoked(of sub: String, _ scopes: Scopes, _ notice: Notice) -> Event {
        notice.event(.consentRevoked, of: sub, [("scopes", .array(scopes.names.map(JSONValue.string)))])
    }

    /// The user has no consent left at this relying party, under any sub.
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
