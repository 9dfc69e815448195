extension String {
    /// Whether it has more than `count` UTF-16 code units.
    package func isLonger(than count: Int) -> Bool { utf8.count > count && utf16.count > count }

    package var hasNUL: Bool {
        let bytes = utf8Span.span
        return bytes.indices.contains { bytes[$0] == 0 }
    }

    /// Refuses a NUL, which no column may hold (analytics §2.4).
    package func checkForNUL(field: String) throws(Refusal) {
        if hasNUL { throw .invalid("\(field) must not contain NUL characters") }
    }
}
