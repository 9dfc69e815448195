import MariaDB
package import Time

/// The id of one kind of row. Ids of different kinds are different types, so that one cannot pass for another.
package struct EntityID<Entity>: RawRepresentable, Hashable, Comparable, Sendable, Encodable, Bindable, Readable {
    package let rawValue: UUID

    package init(rawValue: UUID) { self.rawValue = rawValue }

    /// Nil for what is no UUID.
    package init?(_ text: String) {
        guard let uuid = UUID(text) else { return nil }
        self.init(rawValue: uuid)
    }

    /// A fresh one.
    package init(at time: Timestamp) { self.init(rawValue: UUID(at: time)) }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    package func encode(to encoder: any Encoder) throws { try rawValue.encode(to: encoder) }
}

extension EntityID: LosslessStringConvertible {
    package var description: String { rawValue.description }
}
