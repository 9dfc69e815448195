package import MariaDB
package import Time

/// The id of one kind of row. Each kind has its own type, so that the compiler finds ids that are mixed up.
package struct EntityID<Entity>: RawRepresentable, Hashable, Comparable, Sendable, Encodable, Bindable, Readable {
    package let rawValue: UUID

    package init(rawValue: UUID) { self.rawValue = rawValue }

    /// As by default, which would look up the raw value's conformance each time.
    package var parameter: Parameter { rawValue.parameter }

    /// Nil if the text is not a UUID.
    package init?(_ text: String) {
        guard let uuid = UUID(text) else { return nil }
        self.init(rawValue: uuid)
    }

    /// A new id.
    package init(at time: Timestamp) { self.init(rawValue: UUID(at: time)) }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    package func encode(to encoder: any Encoder) throws { try rawValue.encode(to: encoder) }
}

extension EntityID: LosslessStringConvertible {
    package var description: String { rawValue.description }
}
