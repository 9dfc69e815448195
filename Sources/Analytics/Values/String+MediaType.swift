extension String {
    /// The type and subtype of a Content-Type (RFC 9110 §8.3.1): in lower case, without parameters.
    package var mediaType: String { String(Substring(utf8.prefix { $0 != UInt8(ascii: ";") })).trimmed.lowercased() }
}
