extension String {
    /// Without white space at either end, as ECMAScript's `trim` has it (analytics §2.4).
    package var trimmed: String {
        guard let first = unicodeScalars.firstIndex(where: { !$0.isWhiteSpace }),
            let last = unicodeScalars.lastIndex(where: { !$0.isWhiteSpace })
        else { return "" }
        return String(unicodeScalars[first...last])
    }
}

extension Unicode.Scalar {
    /// WhiteSpace and LineTerminator of ECMAScript: the byte order mark is among them, U+0085 is not.
    package var isWhiteSpace: Bool {
        switch value {
        case 0x09...0x0D, 0x20, 0xA0, 0x1680, 0x2000...0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF: true
        default: false
        }
    }
}

extension String? {
    /// Absent, or without a character that is seen: empty, or only white space and characters that are drawn as nothing
    /// (Unicode Default_Ignorable_Code_Point), as U+200B, U+2060, U+3164 and variation selectors are.
    package var isBlank: Bool {
        self?.unicodeScalars.allSatisfy {
            $0.properties.isWhitespace || $0.properties.isDefaultIgnorableCodePoint
        } ?? true
    }
}
