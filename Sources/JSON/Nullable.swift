/// A member that is written as `null` when there is no value; a plain optional property is left out.
@usableFromInline
@propertyWrapper package struct Nullable<Value> {
    @usableFromInline package var wrappedValue: Value?

    @inlinable package init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }
}

extension Nullable: Encodable where Value: Encodable {
    @usableFromInline
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let wrappedValue { try container.encode(wrappedValue) } else { try container.encodeNil() }
    }
}

/// In an `encode(to:)` that the compiler writes, it chooses these, so that a wrapped value needs no container of its own. The
/// second one spares a string, which most values are, the generic way.
extension KeyedEncodingContainer {
    @inlinable
    package mutating func encode<Value: Encodable>(_ value: Nullable<Value>, forKey key: Key) throws {
        if let value = value.wrappedValue { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
    }

    @inlinable
    package mutating func encode(_ value: Nullable<String>, forKey key: Key) throws {
        if let value = value.wrappedValue { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
    }
}

extension Nullable: Decodable where Value: Decodable {
    @usableFromInline
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        wrappedValue = container.decodeNil() ? nil : try container.decode(Value.self)
    }
}

extension Nullable: DecodableFromNull {}
extension Nullable: Equatable where Value: Equatable {}
extension Nullable: Sendable where Value: Sendable {}
