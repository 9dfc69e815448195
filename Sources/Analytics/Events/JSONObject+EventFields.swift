import JSON
import Time

/// The fields of an event (analytics §8.2).
extension JSONObject {
    /// An optional field: absent, `null` and `""` are all nil.
    func value(_ name: String) -> JSONValue? {
        switch self[name] {
        case nil, .null: nil
        case .string(let text) where text.isEmpty: nil
        case let value: value
        }
    }

    func text(_ name: String, atMost limit: Int = .max) throws(EventFault) -> String? {
        guard let value = value(name) else { return nil }
        guard let text = value.string else { throw EventFault("\(name) must be a string") }
        if text.isLonger(than: limit) { throw EventFault("\(name) exceeds max length of \(limit)") }
        return text
    }

    /// From 1970 on, cut to milliseconds; nil when there is none.
    func timestamp() throws(EventFault) -> Timestamp? {
        guard let value = value("timestamp") else { return nil }
        let timestamp: Timestamp? =
            switch value {
            case .string(let text): Timestamp(iso8601: text)
            case .integer(let milliseconds): Timestamp(milliseconds: milliseconds)
            case .number(let milliseconds):
                Int64(exactly: milliseconds.rounded(.down)).map(Timestamp.init(milliseconds:))
            default: nil
            }
        guard let timestamp, (0...Self.latestTime).contains(timestamp.milliseconds) else {
            throw EventFault("timestamp must be a valid ISO 8601 date")
        }
        return timestamp
    }

    /// Of ECMAScript's dates, in milliseconds.
    private static let latestTime: Int64 = 8_640_000_000_000_000

    func clientEventID() throws(EventFault) -> UUID? {
        guard let value = value("client_event_id") else { return nil }
        guard let id = value.string.flatMap(UUID.init) else { throw EventFault("client_event_id must be a UUID") }
        return id
    }

    func isDev() throws(EventFault) -> Bool {
        guard let value = value("is_dev") else { return false }
        guard case .bool(let isDev) = value else { throw EventFault("is_dev must be a boolean") }
        return isDev
    }

    /// Every value as a string, cut.
    func attributes() throws(EventFault) -> NewEvent.Attributes? {
        guard let value = value("custom_attributes") else { return nil }
        guard case .object(let object) = value else { throw EventFault("custom_attributes must be an object") }
        return NewEvent.Attributes(
            object.mapValues { name, value in
                let text = value.string ?? String(decoding: value.json(), as: UTF8.self)
                return .string(text.cut(to: name.utf8.elementsEqual("_error_stack".utf8) ? 16_000 : 200))
            })
    }
}
