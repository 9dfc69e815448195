extension String {
    /// The type and subtype of a media type (RFC 9110 §8.3.1): in lower case, without parameters. Requests name one in
    /// their Content-Type, reservations of attachments one in their body.
    package var mediaType: String {
        isBareMediaType ? self : String(Substring(utf8.prefix { $0 != UInt8(ascii: ";") })).trimmed.lowercased()
    }

    /// Whether nothing has to be left out or changed, as in most requests.
    private var isBareMediaType: Bool {
        let bytes = utf8Span.span
        for index in bytes.indices {
            switch bytes[index] {
            case UInt8(ascii: ";"), UInt8(ascii: "A")...UInt8(ascii: "Z"), ...0x20, 0x7F...: return false
            default: continue
            }
        }
        return true
    }
}
