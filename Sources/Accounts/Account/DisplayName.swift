/// Text that is shown as the name of a user or a thing.
package enum DisplayName {
    /// Whether a text may be such a name (accounts §1.7): it has no control characters, no line breaks, and no
    /// characters that change the direction of the text around it.
    package static func isAcceptable(_ text: String) -> Bool { text.unicodeScalars.allSatisfy(isAcceptable) }

    /// Whether a text of several lines may be shown: as a name, but for tabs and line breaks.
    static func isAcceptable(lines text: String) -> Bool {
        text.unicodeScalars.allSatisfy { $0 == "\n" || $0 == "\r" || $0 == "\t" || isAcceptable($0) }
    }

    /// The text without unacceptable characters, and with spaces in place of tabs and line breaks. A name that comes
    /// with a sign-in is cleaned, because refusing it would refuse the sign-in.
    static func cleaned(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.compactMap { scalar in
                    isAcceptable(scalar) ? scalar : scalar.properties.isWhitespace ? " " : nil
                }))
    }

    /// Embeddings, overrides and isolates (UAX #9 §2) affect text after the name. The marks of UAX #9 §2.6 do not, and
    /// right-to-left names need them.
    private static func isAcceptable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x202A...0x202E, 0x2066...0x2069: false
        default: ![.control, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
        }
    }
}
