extension Span<UInt8> {
    /// Byte for byte.
    @inlinable
    package func isEqual(to other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        for index in indices where self[index] != other[index] { return false }
        return true
    }

    /// Whether one of these two bytes is there. Looks at eight bytes at a time.
    package func contains(_ byte: UInt8, or other: UInt8) -> Bool {
        var index = 0
        while index + 8 <= count {
            // Unsafe is only that it would make values of any type; the offset is checked.
            let word = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
            if hasZero(word ^ repeated(byte)) || hasZero(word ^ repeated(other)) { return true }
            index += 8
        }
        return (index..<count).contains { self[$0] == byte || self[$0] == other }
    }
}

extension String {
    /// Byte for byte: `==` takes canonically equivalent spellings for equal.
    @inlinable
    package func hasSameBytes(as other: String) -> Bool {
        // Most texts differ in length already, which costs no call.
        utf8.count == other.utf8.count && utf8Span.span.isEqual(to: other.utf8Span.span)
    }
}

/// Whether a byte is zero. The subtraction sets the highest bit of a byte that had it clear only if the byte is zero, or if a zero
/// below it borrows.
private func hasZero(_ word: UInt64) -> Bool {
    (word &- repeated(1)) & ~word & repeated(0x80) != 0
}

/// A word of eight such bytes, to look at eight bytes at a time.
@inlinable
package func repeated(_ byte: UInt8) -> UInt64 { UInt64(byte) &* 0x0101_0101_0101_0101 }
