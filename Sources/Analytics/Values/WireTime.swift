import MariaDB
package import Time

/// An instant that is written as answers of the analytics surface have it (analytics §2.2).
package struct WireTime: RawRepresentable, Hashable, Sendable, Readable, Encodable {
    package let rawValue: Timestamp

    package init(rawValue: Timestamp) { self.rawValue = rawValue }

    package func encode(to encoder: any Encoder) throws { try rawValue.iso8601Milliseconds.encode(to: encoder) }
}
