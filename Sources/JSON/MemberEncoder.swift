internal import Text

/// The members of an object, written in the order they come.
struct MemberEncoder<Key: CodingKey>: KeyedEncodingContainerProtocol {
    private let object: ValueEncoder
    private let names = MemberNames.of(Key.self)

    init(_ object: ValueEncoder) { self.object = object }

    var codingPath: [any CodingKey] { [] }

    private func name(_ key: Key) -> Writer {
        object.writer.name(names, key.stringValue, object.level)
        return object.writer
    }

    private func append(_ key: Key, atMost size: Int, _ value: (inout OutputSpan<UInt8>) -> Void) {
        object.writer.appendMember(names, key.stringValue, object.level, atMost: size, value)
    }

    mutating func encodeNil(forKey key: Key) { append(key, atMost: 4) { $0.append("null") } }
    mutating func encode(_ value: Bool, forKey key: Key) {
        append(key, atMost: 5) { $0.append(value ? "true" : "false") }
    }
    mutating func encode(_ value: String, forKey key: Key) {
        object.writer.appendMember(names, key.stringValue, object.level, string: value)
    }
    mutating func encode(_ value: Double, forKey key: Key) { name(key).append(.number(value)) }
    mutating func encode(_ value: Int, forKey key: Key) { encode(Int64(value), forKey: key) }
    mutating func encode(_ value: Int64, forKey key: Key) { append(key, atMost: 20) { $0.append(decimal: value) } }
    mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws { try name(key).write(value) }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        ValueEncoder(writer: name(key).insert(.object), level: 0).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        ValueEncoder(writer: name(key).insert(.array), level: 0).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { object }

    mutating func superEncoder(forKey key: Key) -> any Encoder {
        ValueEncoder(writer: name(key).insert(.undecided), level: 0)
    }
}
