/// `Encoder` for one value: a frame of a writer.
struct ValueEncoder: Encoder {
    let writer: Writer
    let level: Int

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        writer.open(level, as: .object)
        return KeyedEncodingContainer(MemberEncoder(self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        writer.open(level, as: .array)
        return ElementEncoder(array: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension ValueEncoder: SingleValueEncodingContainer {
    func encodeNil() { writer.appendSingle(level) { appendNull(to: &$0) } }
    func encode(_ value: Bool) { writer.appendSingle(level) { JSON.append(value, to: &$0) } }
    func encode(_ value: String) { writer.appendSingle(level) { appendQuoted(value, to: &$0) } }
    func encode(_ value: Double) { writer.appendSingle(level) { JSONValue.number(value).append(to: &$0) } }
    func encode(_ value: Float) { encode(Double(value.description) ?? .nan) }
    func encode(_ value: Int) { encodeInteger(value) }
    func encode(_ value: Int8) { encodeInteger(value) }
    func encode(_ value: Int16) { encodeInteger(value) }
    func encode(_ value: Int32) { encodeInteger(value) }
    func encode(_ value: Int64) { encodeInteger(value) }
    func encode(_ value: UInt) { encodeInteger(value) }
    func encode(_ value: UInt8) { encodeInteger(value) }
    func encode(_ value: UInt16) { encodeInteger(value) }
    func encode(_ value: UInt32) { encodeInteger(value) }
    func encode(_ value: UInt64) { encodeInteger(value) }

    private func encodeInteger(_ value: some FixedWidthInteger) {
        writer.appendSingle(level) { $0 += value.description.utf8 }
    }

    func encode<T: Encodable>(_ value: T) throws {
        writer.open(level, as: .single)
        try writer.write(value)
    }
}
