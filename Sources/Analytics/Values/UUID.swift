package import MariaDB
import OpenSSL
import Text
package import Time

/// 128 bits (RFC 9562), written as 8-4-4-4-12 lower-case digits.
package struct UUID: Hashable, Sendable {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Nil unless the text is 8-4-4-4-12 hexadecimal digits, in upper or lower case, of any version.
    package init?(_ text: String) { self.init(text.utf8Span.span) }

    /// The same in UTF-8.
    package init?(_ text: Span<UInt8>) {
        func isHyphen(_ index: Int) -> Bool { text[index] == UInt8(ascii: "-") }
        guard text.count == 36, isHyphen(8), isHyphen(13), isHyphen(18), isHyphen(23),
            let first = text.hexadecimalNumber(at: 0, and: 4), let second = text.hexadecimalNumber(at: 9, and: 14),
            let third = text.hexadecimalNumber(at: 19, and: 24), let fourth = text.hexadecimalNumber(at: 28, and: 32)
        else { return nil }
        self.init(high: UInt64(first) << 32 | UInt64(second), low: UInt64(third) << 32 | UInt64(fourth))
    }

    /// A new UUID of version 7 (RFC 9562 §5.7). Later milliseconds sort after earlier ones, so the newest rows of a
    /// table are stored together.
    package init(at time: Timestamp) { self.init(at: time, random: randomBytes(10)[...]) }

    /// Several new UUIDs. Fetching randomness once for all of them is faster.
    package static func fresh(_ count: Int, at time: Timestamp) -> [UUID] {
        let random = randomBytes(10 * count)
        return (0..<count).map { UUID(at: time, random: random[10 * $0..<10 * $0 + 10]) }
    }

    private init(at time: Timestamp, random: ArraySlice<UInt8>) {
        let random = random.reduce((high: UInt64(0), low: UInt64(0))) {
            ($0.high << 8 | $0.low >> 56, $0.low << 8 | UInt64($1))
        }
        high = UInt64(bitPattern: time.milliseconds) << 16 | 0x7000 | random.high & 0xFFF
        low = random.low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    }
}

extension UUID: CustomStringConvertible {
    package var description: String {
        // The positions without a digit keep their hyphen.
        var text = [UInt8](repeating: UInt8(ascii: "-"), count: 36)
        for index in 0..<16 {
            let position = 2 * index + (index < 4 ? 0 : min(index / 2 - 1, 4))
            (text[position], text[position + 1]) = digits(ofByte: index)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The 32 digits without hyphens, for SQL's `UNHEX` in lists that are JSON.
    package var digits: String {
        var text = [UInt8](repeating: 0, count: 32)
        for index in 0..<16 { (text[2 * index], text[2 * index + 1]) = digits(ofByte: index) }
        return String(decoding: text, as: UTF8.self)
    }

    /// - Parameter index: 0 is the most significant byte.
    private func digits(ofByte index: Int) -> (UInt8, UInt8) {
        let half = index < 8 ? high : low
        let byte = UInt8(truncatingIfNeeded: half >> UInt64(56 - 8 * (index % 8)))
        return byte.hexadecimalDigits
    }
}

extension UUID: Comparable {
    package static func < (left: UUID, right: UUID) -> Bool { (left.high, left.low) < (right.high, right.low) }
}

extension UUID: Bindable, Readable {
    package var parameter: Parameter { .uuid(high: high, low: low) }

    package init(_ column: borrowing Column) throws(MariaDBError) {
        (high, low) = try column.uuid()
    }
}

extension UUID: Encodable {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
