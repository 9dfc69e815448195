internal import Text

extension Span<UInt8> {
    /// Where the first quote, backslash or control character is, from an index on; the count if there is none. These are what a
    /// JSON string can have only escaped (RFC 8259 §7).
    ///
    /// Looks at eight bytes at a time.
    func firstSpecial(from start: Int = 0) -> Int {
        var index = start
        while index + 8 <= count {
            // Unsafe is only that it would make values of any type; the offset is checked.
            let word = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self).littleEndian
            let (quotes, backslashes) = (word ^ repeated(UInt8(ascii: "\"")), word ^ repeated(UInt8(ascii: "\\")))
            let special = marks(word, below: 0x20) | marks(quotes, below: 1) | marks(backslashes, below: 1)
            if special != 0 { return index + special.trailingZeroBitCount / 8 }
            index += 8
        }
        while index < count, !isSpecial(self[index]) { index += 1 }
        return index
    }
}

private func isSpecial(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
}
