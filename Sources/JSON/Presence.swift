/// A member of a PATCH body: absent leaves things as they are, `null` clears, a value sets.
package enum Presence<Value: Decodable>: Decodable {
    case absent
    case null
    case value(Value)

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        self = container.decodeNil() ? .null : .value(try container.decode(Value.self))
    }
}

extension Presence {
    /// Nil: leave; `.some(nil)`: clear.
    package var change: Value?? {
        switch self {
        case .absent: .none
        case .null: .some(nil)
        case .value(let value): .some(value)
        }
    }
}

extension Presence: Equatable where Value: Equatable {}
extension Presence: Sendable where Value: Sendable {}

extension Presence: DecodableWhenAbsent, DecodableFromNull {}

/// A type that has a value for a member that is not there.
protocol DecodableWhenAbsent {
    static var absent: Self { get }
}

/// A type that reads `null` itself instead of having it count as absent.
protocol DecodableFromNull {}

extension Optional: DecodableFromNull {}
