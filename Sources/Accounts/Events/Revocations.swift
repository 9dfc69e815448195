import JSON

/// Why tokens or a consent were ended by somebody other than their relying party (accounts §3.3).
package enum RevocationReason: String, Sendable {
    case userDisconnected = "user_disconnected"
    case refreshReuse = "refresh_reuse"
    case codeReplay = "code_replay"
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
