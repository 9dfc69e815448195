extension String {
    /// The type and subtype of a media type (RFC 9110 §8.3.1): in lower case, without parameters. Requests name one in
    /// their Content-Type, reservations of attachments one in their body.
    package var mediaType: String { String(Substring(utf8.prefix { $0 != UInt8(ascii: ";") })).trimmed.lowercased() }
}
