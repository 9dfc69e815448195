import JSON
import Time

extension Event {
    /// An account was deleted or pruned: all consents to the relying party have ended, and after `purgeAt` nothing names the
    /// user here.
    static func userDeleted(_ user: User.ID, _ notice: DeletionNotice, purgeAt: Timestamp) -> Event {
        notice.event(.userDeleted, of: user, [("purge_at", .string(purgeAt.iso8601))])
    }

    /// A deletion was taken back. Consents stay withdrawn.
    static func userRestored(_ user: User.ID, _ notice: DeletionNotice) -> Event {
        notice.event(.userRestored, of: user)
    }

    /// A deletion was carried out.
    static func userPurged(_ user: User.ID, _ notice: DeletionNotice) -> Event { notice.event(.userPurged, of: user) }
}

extension DeletionNotice {
    fileprivate func event(_ kind: Event.Kind, of user: User.ID, _ more: [(String, JSONValue)] = []) -> Event {
        let data: [(String, JSONValue)] = [
            ("sub", .string(sub)), ("canonical_sub", .string(String(user.rawValue))),
            ("linked_subs", .array(linkedSubs.map(JSONValue.string))),
        ]
        return Event(application: application, kind: kind, data: .object(JSONObject(data + more)))
    }
}
