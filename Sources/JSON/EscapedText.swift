internal import Text

/// The pieces of a string with escapes (RFC 8259 §7), as they stand between its quotes. The parser has checked them.
struct EscapedText {
    enum Piece {
        /// One byte of UTF-8.
        case byte(UInt8)
        /// A scalar that was written as `\u` and four digits, or as a pair of these.
        case scalar(UTF8.EncodedScalar)
    }

    let text: ArraySlice<UInt8>
    /// Whether some piece so far was half of a surrogate pair. It reads as U+FFFD.
    private(set) var hasLoneSurrogate = false
    private var position: Int

    init(_ text: ArraySlice<UInt8>) {
        self.text = text
        position = text.startIndex
    }

    mutating func next() -> Piece? {
        guard position < text.endIndex else { return nil }
        if let unit = codeUnit(at: position) {
            position += 6
            var scalar = Unicode.Scalar(unit)
            if UTF16.isLeadSurrogate(unit), let trail = codeUnit(at: position), UTF16.isTrailSurrogate(trail) {
                position += 6
                scalar = UTF16.decode(UTF16.EncodedScalar([unit, trail]))
            }
            hasLoneSurrogate = hasLoneSurrogate || scalar == nil
            return .scalar(scalar.flatMap(UTF8.encode) ?? UTF8.encodedReplacementCharacter)
        }
        let byte = text[position]
        guard byte == UInt8(ascii: "\\") else {
            position += 1
            return .byte(byte)
        }
        defer { position += 2 }
        return switch text[position + 1] {
        case UInt8(ascii: "b"): .byte(0x08)
        case UInt8(ascii: "f"): .byte(0x0C)
        case UInt8(ascii: "n"): .byte(0x0A)
        case UInt8(ascii: "r"): .byte(0x0D)
        case UInt8(ascii: "t"): .byte(0x09)
        case let itself: .byte(itself)
        }
    }

    private func codeUnit(at position: Int) -> UInt16? {
        guard position + 6 <= text.endIndex, text[position] == UInt8(ascii: "\\"),
            text[position + 1] == UInt8(ascii: "u")
        else { return nil }
        return text[position + 2..<position + 6].reduce(0) { $0 << 4 | UInt16($1.hexadecimalValue ?? 0) }
    }
}
