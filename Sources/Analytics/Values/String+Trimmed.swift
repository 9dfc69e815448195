extension String {
    /// Without white space at either end.
    package var trimmed: String {
        let start = unicodeScalars.drop { $0.properties.isWhitespace }
        let end = start.reversed().drop { $0.properties.isWhitespace }
        return String(String.UnicodeScalarView(end.reversed()))
    }
}
