internal import Text

/// Any JSON value, for members whose shape somebody else decides.
package enum JSONValue: Sendable {
    case null
    case bool(Bool)
    /// A number with an integral value, however it was written.
    case integer(Int64)
    /// One beyond the range of doubles is infinite, as in ECMAScript, and written as `null`.
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)
}

extension JSONValue: Equatable {
    /// Strings are compared byte for byte, objects without regard to order.
    package static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.string(let left), .string(let right)): left.hasSameBytes(as: right)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }
}

extension JSONValue: Codable {
    package init(from decoder: any Decoder) throws {
        let decoder = try ValueDecoder(decoder)
        self = decoder.document.value(decoder.node)
    }

    /// For encoders of others; ours writes such values itself.
    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .null:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .bool(let value): try value.encode(to: encoder)
        case .integer(let value): try value.encode(to: encoder)
        case .number(let value): try value.encode(to: encoder)
        case .string(let value): try value.encode(to: encoder)
        case .array(let values): try values.encode(to: encoder)
        case .object(let object):
            var container = encoder.container(keyedBy: AnyKey.self)
            for member in object.members { try container.encode(member.value, forKey: AnyKey(member.name)) }
        }
    }
}

extension JSONValue: DecodableFromNull {}

extension JSONValue {
    package subscript(name: String) -> JSONValue? {
        guard case .object(let object) = self else { return nil }
        return object[name]
    }

    package var string: String? {
        guard case .string(let value) = self else { return nil }
        return value
    }

    package var array: [JSONValue]? {
        guard case .array(let values) = self else { return nil }
        return values
    }
}

extension JSONValue: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(floatLiteral value: Double) { self = .number(value) }
    package init(stringLiteral value: String) { self = .string(value) }
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(JSONObject(elements)) }
}

extension Document {
    func value(_ node: Int) -> JSONValue {
        switch kind(node) {
        case .null: .null
        case .false: .bool(false)
        case .true: .bool(true)
        case .integer, .fraction: integer(node).map(JSONValue.integer) ?? .number(nearestDouble(node) ?? .nan)
        case .string, .escapedString: .string(string(node) ?? "")
        case .array: .array(elements(node).map(value))
        case .object:
            .object(
                JSONObject(
                    members: members(node).map { JSONObject.Member(name: string($0) ?? "", value: value($0 + 1)) }))
        }
    }
}
