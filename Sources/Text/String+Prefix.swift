extension String {
    /// The first `count` Unicode scalars: what the database's columns count, and accounts' limits.
    package func prefix(scalars count: Int) -> String {
        // A string has at least as many UTF-8 bytes as scalars.
        guard utf8.count > count else { return self }
        return String(String.UnicodeScalarView(unicodeScalars.prefix(count)))
    }

    /// The first `count` UTF-16 code units, as analytics' limits count (analytics §2.4); half a surrogate pair that this would
    /// leave becomes U+FFFD.
    package func prefix(utf16 count: Int) -> String {
        // A string has at least as many UTF-8 bytes as UTF-16 code units.
        guard utf8.count > count, utf16.count > count else { return self }
        return String(decoding: utf16.prefix(count), as: UTF16.self)
    }
}
