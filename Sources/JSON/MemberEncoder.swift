/// The members of an object, written in the order they come.
struct MemberEncoder<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let object: ValueEncoder

    var codingPath: [any CodingKey] { [] }

    private func name(_ key: Key) -> Writer {
        object.writer.name(key.stringValue, object.level)
        return object.writer
    }

    func encodeNil(forKey key: Key) { name(key).appendNull() }
    func encode(_ value: Bool, forKey key: Key) { name(key).append(value) }
    func encode(_ value: String, forKey key: Key) { name(key).append(value) }
    func encode(_ value: Double, forKey key: Key) { name(key).append(value) }
    func encode(_ value: Int, forKey key: Key) { name(key).append(value) }
    func encode(_ value: Int64, forKey key: Key) { name(key).append(value) }
    func encode<T: Encodable>(_ value: T, forKey key: Key) throws { try name(key).write(value) }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        ValueEncoder(writer: name(key).insert(.object), level: 0).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        ValueEncoder(writer: name(key).insert(.array), level: 0).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { object }

    func superEncoder(forKey key: Key) -> any Encoder {
        ValueEncoder(writer: name(key).insert(.undecided), level: 0)
    }
}
