package import JSON
internal import Text

/// Optional fields of a body. A value that is not a string counts as null (analytics §10).
extension JSONObject {
    /// The trimmed text, truncated to a length; nil if nothing is left.
    func text(_ name: String, cutTo length: Int) -> String? {
        guard let text = self[name]?.string?.trimmed, !text.isEmpty else { return nil }
        return text.prefix(utf16: length)
    }

    /// Unlike the other fields, a value that is not a string is refused (analytics §10).
    func sessionID() throws(Refusal) -> UUID? {
        guard let value = self["session_id"], value != .null else { return nil }
        guard let id = value.string.flatMap(UUID.init) else { throw .invalid("session_id must be a UUID") }
        return id
    }

    /// The end user that a body names; nil if it names none.
    package func userID() throws(Refusal) -> EndUserID? { try EndUserID(named: self["user_id"]?.string) }
}
