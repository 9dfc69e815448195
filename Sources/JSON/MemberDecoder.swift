/// The members of an object, found by name.
struct MemberDecoder<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let object: ValueDecoder
    private let names = MemberNames.of(Key.self)
    /// Only for objects so large that looking through all members for each name would take quadratic time.
    private let index: [MemberName: Int]?

    init(_ object: ValueDecoder) {
        let document = object.document
        let members = document.members(object.node)
        self.object = object
        index =
            members.count <= 32
            ? nil
            : Dictionary(members.map { (MemberName(document.utf8($0)), $0 + 1) }, uniquingKeysWith: { $1 })
    }

    var codingPath: [any CodingKey] { object.codingPath }

    /// Not for properties. So an enum with associated values, the one kind of type whose synthesized decoding asks for this,
    /// needs keys with raw values.
    var allKeys: [Key] {
        precondition(!names.areProperties, "\(Key.self) cannot be made from names of members")
        return object.document.members(object.node).compactMap {
            object.document.string($0).flatMap(Key.init(stringValue:))
        }
    }

    /// The value of the last member of that name, `null` included.
    private func find(_ key: Key) -> ValueDecoder? {
        let node =
            if let index {
                index[MemberName(names.utf8(of: key.stringValue)[...])]
            } else {
                object.document.member(key.stringValue, names, of: object.node)
            }
        return node.map { ValueDecoder(document: object.document, node: $0) }
    }

    private func value(_ key: Key) throws -> ValueDecoder {
        guard let value = find(key) else { throw missing(key) }
        return value
    }

    /// As `value`, but `null` counts as missing.
    private func required(_ key: Key) throws -> ValueDecoder {
        guard let value = present(key) else { throw missing(key) }
        return value
    }

    private func missing(_ key: Key) -> JSONError {
        let name = String(decoding: names.utf8(of: key.stringValue), as: UTF8.self)
        return .missing(path: pathText(codingPath + [AnyKey(name)]))
    }

    func contains(_ key: Key) -> Bool { find(key) != nil }
    func decodeNil(forKey key: Key) throws -> Bool { try value(key).isNull }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try required(key).bool() }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try required(key).string() }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try required(key).double() }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { Float(try required(key).double()) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try required(key).integer(type) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try required(key).integer(type) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try required(key).integer(type) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try required(key).integer(type) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try required(key).integer(type) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try required(key).integer(type) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try required(key).integer(type) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try required(key).integer(type) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try required(key).integer(type) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try required(key).integer(type) }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        guard let value = find(key) else { return try absent(type, key) }
        if value.isNull, !(type is any DecodableFromNull.Type) { throw missing(key) }
        return try value.unwrap(type)
    }

    /// Apart, because a cast to `T` looks up the type of its optional, wherever in a function it is.
    @inline(never)
    private func absent<T>(_ type: T.Type, _ key: Key) throws -> T {
        guard let absent = (type as? any DecodableWhenAbsent.Type)?.absent as? T else { throw missing(key) }
        return absent
    }

    // The standard library's defaults for these look the name up three times.
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try present(key)?.bool() }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try present(key)?.string() }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try present(key)?.double() }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try present(key)?.integer(type) }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? { try present(key)?.unwrap(type) }

    private func present(_ key: Key) -> ValueDecoder? { find(key).flatMap { $0.isNull ? nil : $0 } }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try value(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try value(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { object }
    func superDecoder(forKey key: Key) throws -> any Decoder { try value(key) }
}
