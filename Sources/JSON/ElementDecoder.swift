/// The elements of an array, one after the other.
struct ElementDecoder: UnkeyedDecodingContainer {
    private let array: ValueDecoder
    private let elements: [Int]
    private(set) var currentIndex = 0

    init(_ array: ValueDecoder) {
        self.array = array
        elements = Array(array.document.elements(array.node))
    }

    var codingPath: [any CodingKey] { array.codingPath }
    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex == elements.count }

    private func current() throws -> ValueDecoder {
        guard !isAtEnd else { throw JSONError.missing(path: pathText(codingPath + [AnyKey(currentIndex)])) }
        return ValueDecoder(document: array.document, node: elements[currentIndex])
    }

    mutating func decodeNil() throws -> Bool {
        let isNull = try current().isNull
        if isNull { currentIndex += 1 }
        return isNull
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        let value = try current().unwrap(type)
        currentIndex += 1
        return value
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        let container = try current().container(keyedBy: type)
        currentIndex += 1
        return container
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let container = try current().unkeyedContainer()
        currentIndex += 1
        return container
    }

    mutating func superDecoder() throws -> any Decoder {
        let decoder = try current()
        currentIndex += 1
        return decoder
    }
}
