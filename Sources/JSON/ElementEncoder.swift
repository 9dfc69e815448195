/// The elements of an array, written in the order they come.
struct ElementEncoder: UnkeyedEncodingContainer {
    let array: ValueEncoder

    var codingPath: [any CodingKey] { [] }
    var count: Int { array.writer.count(array.level) }

    private func next() -> Writer {
        array.writer.separate(array.level)
        return array.writer
    }

    func encodeNil() { next().appendNull() }
    func encode<T: Encodable>(_ value: T) throws { try next().write(value) }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        ValueEncoder(writer: next().insert(.object), level: 0).container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        ValueEncoder(writer: next().insert(.array), level: 0).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { ValueEncoder(writer: next().insert(.undecided), level: 0) }
}
