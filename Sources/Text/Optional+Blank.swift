extension String? {
    /// Absent, or without a character that is seen: empty, or only white space and characters that are drawn as nothing
    /// (Unicode Default_Ignorable_Code_Point), as U+200B, U+2060, U+3164 and variation selectors are.
    package var isBlank: Bool {
        self?.unicodeScalars.allSatisfy {
            $0.properties.isWhitespace || $0.properties.isDefaultIgnorableCodePoint
        } ?? true
    }
}
