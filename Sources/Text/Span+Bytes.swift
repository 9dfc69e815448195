extension Span<UInt8> {
    /// Byte for byte.
    @inlinable
    package func isEqual(to other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        for index in indices where self[index] != other[index] { return false }
        return true
    }

    /// Byte for byte.
    @inlinable
    package func starts(with other: Span<UInt8>) -> Bool {
        count >= other.count && extracting(0..<other.count).isEqual(to: other)
    }

    /// Whether this is the word, in upper or lower case.
    ///
    /// - Parameter word: ASCII letters.
    package func isCaseless(_ word: String) -> Bool {
        let word = word.utf8Span.span
        guard count == word.count else { return false }
        for index in indices where self[index] | 0x20 != word[index] | 0x20 { return false }
        return true
    }

    /// Where the first such byte is, from an index on; the count if there is none. Looks at eight bytes at a time.
    ///
    /// - Parameter start: at most the count.
    package func firstIndex(of byte: UInt8, from start: Int = 0) -> Int {
        var index = start
        while index + 8 <= count {
            // Unsafe is only that it would make values of any type; the offset is checked.
            let word = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self).littleEndian
            let zeros = marks(word ^ repeated(byte), below: 1)
            if zeros != 0 { return index + zeros.trailingZeroBitCount / 8 }
            index += 8
        }
        while index < count, self[index] != byte { index += 1 }
        return index
    }

    /// Whether some byte is less than a limit, which is at most 128. Looks at eight bytes at a time.
    package func contains(below limit: UInt8) -> Bool {
        var index = 0
        while index + 8 <= count {
            // As above.
            let word = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
            if marks(word, below: limit) != 0 { return true }
            index += 8
        }
        while index < count {
            if self[index] < limit { return true }
            index += 1
        }
        return false
    }

    /// Where the first ASCII letter in upper case is, from an index on; the count if there is none. Looks at eight bytes at a time.
    ///
    /// - Parameter start: at most the count.
    package func firstUpperCase(from start: Int) -> Int {
        var index = start
        while index + 8 <= count {
            // As above.
            let word = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self).littleEndian
            // The highest bit is set from "A" on in the first sum, and behind "Z" in the second one.
            let low = word & repeated(0x7F)
            let marks = (low + repeated(0x3F)) & ~(low + repeated(0x25)) & ~word & repeated(0x80)
            if marks != 0 { return index + marks.trailingZeroBitCount / 8 }
            index += 8
        }
        while index < count, !self[index].isUpperCase { index += 1 }
        return index
    }

    /// Whether one of these two bytes is there. Looks at eight bytes at a time.
    package func contains(_ byte: UInt8, or other: UInt8) -> Bool {
        var index = 0
        while index + 8 <= count {
            // Unsafe is only that it would make values of any type; the offset is checked.
            let word = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
            if marks(word ^ repeated(byte), below: 1) | marks(word ^ repeated(other), below: 1) != 0 { return true }
            index += 8
        }
        while index < count {
            if self[index] == byte || self[index] == other { return true }
            index += 1
        }
        return false
    }
}

extension UInt8 {
    /// Whether it is an ASCII letter in upper case.
    @inlinable package var isUpperCase: Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) }
}

extension String {
    /// Byte for byte: `==` takes canonically equivalent spellings for equal.
    @inlinable
    package func hasSameBytes(as other: String) -> Bool {
        // Most texts differ in length already, which costs no call.
        utf8.count == other.utf8.count && utf8Span.span.isEqual(to: other.utf8Span.span)
    }
}

/// Zero unless a byte is less than the limit, which is at most 128. The lowest bit that is set marks the first such byte in memory: the
/// subtraction sets the highest bit of a byte that had it clear only if the byte is less, or if a byte before it borrows.
@inlinable
package func marks(_ word: UInt64, below limit: UInt8) -> UInt64 { (word &- repeated(limit)) & ~word & repeated(0x80) }

/// A word of eight such bytes, to look at eight bytes at a time.
@inlinable
package func repeated(_ byte: UInt8) -> UInt64 { UInt64(byte) &* 0x0101_0101_0101_0101 }
