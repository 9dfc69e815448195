package import MariaDB

extension Int64 {
    /// The number that a cursor of a list stands for; nil if it is no cursor. Only one text stands for a number.
    package init?(cursor: String) {
        guard let number = Int64(cursor), number >= 0, String(number).utf8.elementsEqual(cursor.utf8) else {
            return nil
        }
        self = number
    }
}

/// The surrogate key of one kind of row. Each kind has its own type, so that one id cannot be passed for another.
package struct Identifier<Entity>: RawRepresentable, Hashable, Comparable, Sendable, Encodable, Bindable, Readable {
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }

    /// As by default, which would look up the raw value's conformance each time.
    package var parameter: Parameter { .signed(rawValue) }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

extension KeyedEncodingContainer {
    /// As by default, but without a container for the number alone.
    package mutating func encode<Entity>(_ id: Identifier<Entity>, forKey key: Key) throws {
        try encode(id.rawValue, forKey: key)
    }
}
