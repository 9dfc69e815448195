/// Text that others read as the name of somebody or something.
package enum DisplayName {
    /// Whether it may be one (accounts §1.7): it has no control characters, none that begins a line, and none that turns
    /// the direction of the text it stands in.
    package static func isAcceptable(_ text: String) -> Bool { text.unicodeScalars.allSatisfy(isAcceptable) }

    /// Without the characters that are not acceptable, and with spaces in place of tabs and line ends: a name that comes
    /// with a sign-in cannot be refused without losing the sign-in.
    static func cleaned(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.compactMap { scalar in
                    isAcceptable(scalar) ? scalar : scalar.properties.isWhitespace ? " " : nil
                }))
    }

    /// Embeddings, overrides and isolates (UAX #9 §2) reach beyond the name. The marks of UAX #9 §2.6 do not, and names
    /// written from right to left need them.
    private static func isAcceptable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x202A...0x202E, 0x2066...0x2069: false
        default: ![.control, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
        }
    }
}
