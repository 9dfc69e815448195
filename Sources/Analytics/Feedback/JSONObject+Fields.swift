package import JSON
internal import Text

/// Optional fields of a body: what is no string counts as null (analytics §10).
extension JSONObject {
    /// A text, trimmed and cut to a length; nil when nothing is left of it.
    func text(_ name: String, cutTo length: Int) -> String? {
        guard let text = self[name]?.string?.trimmed, !text.isEmpty else { return nil }
        return text.prefix(utf16: length)
    }

    /// Unlike the other fields, one that is no string is refused (analytics §10).
    func sessionID() throws(Refusal) -> UUID? {
        guard let value = self["session_id"], value != .null else { return nil }
        guard let id = value.string.flatMap(UUID.init) else { throw .invalid("session_id must be a UUID") }
        return id
    }

    /// The end user a body names; nil when it names none.
    package func userID() throws(Refusal) -> EndUserID? { try EndUserID(named: self["user_id"]?.string) }
}
