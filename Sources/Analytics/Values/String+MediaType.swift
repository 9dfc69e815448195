extension String {
    /// The type and subtype of a Content-Type (RFC 9110 §8.3.1): in lower case, without parameters.
    package var mediaType: String { String(prefix { $0 != ";" }).trimmed.lowercased() }
}
