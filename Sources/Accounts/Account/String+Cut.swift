extension String {
    /// At most that many characters as the database counts them: Unicode scalars, not graphemes of any length.
    package func cut(to count: Int) -> String { String(String.UnicodeScalarView(unicodeScalars.prefix(count))) }
}
