/// `Decoder` over one node of a document.
struct ValueDecoder: Decoder {
    let document: Document
    let node: Int

    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// Worked out when somebody asks, which is when something is wrong.
    var codingPath: [any CodingKey] { document.path(to: node) }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard document.kind(node) == .object else { throw mismatch("an object") }
        return KeyedDecodingContainer(MemberDecoder(self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard document.kind(node) == .array else { throw mismatch("an array") }
        return ElementDecoder(self)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    func mismatch(_ expected: String) -> JSONError {
        .wrongType(path: pathText(codingPath), expected: expected)
    }

    func unwrap<T: Decodable>(_ type: T.Type) throws -> T {
        // The standard library's own `init(from:)` would come back here through an existential container, and a cast would look
        // types up. Unsafe is only that the types must be the same, which each line has checked.
        if type == String.self { return unsafe unsafeBitCast(try string(), to: type) }
        if type == String?.self { return unsafe unsafeBitCast(isNull ? nil : try string(), to: type) }
        if type == Int.self { return unsafe unsafeBitCast(try integer(Int.self), to: type) }
        if type == Bool.self { return unsafe unsafeBitCast(try bool(), to: type) }
        return try T(from: self)
    }

    func string() throws -> String {
        guard let value = document.string(node) else { throw mismatch("a string") }
        return value
    }

    func bool() throws -> Bool {
        switch document.kind(node) {
        case .true: true
        case .false: false
        default: throw mismatch("a boolean")
        }
    }

    func integer<T: FixedWidthInteger>(_ type: T.Type) throws -> T {
        guard let value = document.integer(node), let result = T(exactly: value) else {
            throw mismatch("an integer between \(T.min) and \(T.max)")
        }
        return result
    }

    func double() throws -> Double {
        guard let value = document.double(node) else { throw mismatch("a number") }
        return value
    }

    var isNull: Bool { document.kind(node) == .null }
}

extension ValueDecoder {
    /// For values that stand for any JSON, which nobody else's decoder has.
    init(_ decoder: any Decoder) throws {
        guard let decoder = decoder as? ValueDecoder else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "not read from JSON text"))
        }
        self = decoder
    }
}

extension ValueDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { isNull }
    func decode(_ type: Bool.Type) throws -> Bool { try bool() }
    func decode(_ type: String.Type) throws -> String { try string() }
    func decode(_ type: Double.Type) throws -> Double { try double() }
    func decode(_ type: Float.Type) throws -> Float { Float(try double()) }
    func decode(_ type: Int.Type) throws -> Int { try integer(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try unwrap(type) }
}
