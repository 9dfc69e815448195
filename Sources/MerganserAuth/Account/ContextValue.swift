/// A value of JSON (RFC 8259) in what an agent gave as context.
public enum ContextValue: Decodable, Hashable, Sendable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// Without a fraction, within 64 bits.
    case integer(Int)
    /// Any other number.
    case number(Double)
    /// Text.
    case string(String)
    /// Values in order.
    case array([ContextValue])
    /// Values by name; names are as the agent wrote them.
    case object([String: ContextValue])

    /// Reads any value.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let values = try? container.decode([ContextValue].self) {
            self = .array(values)
        } else {
            self = .object(try container.decode([String: ContextValue].self))
        }
    }
}
