internal import Text

extension HeaderField {
    /// `Content-Disposition: attachment` with a file name (RFC 6266). For old recipients, the name is in ASCII, and `_`
    /// replaces characters that are not safe in quotes. The complete name has the form of RFC 8187.
    package static func attachment(filename: String) -> HeaderField {
        let plain = filename.unicodeScalars.map { isPlain($0) ? String($0) : "_" }.joined()
        let whole = filename.utf8
            .map { isAttributeCharacter($0) ? String(UnicodeScalar($0)) : "%" + [$0].hexadecimal.uppercased() }.joined()
        return HeaderField("Content-Disposition", "attachment; filename=\"\(plain)\"; filename*=UTF-8''\(whole)")
    }
}

/// Printable ASCII, except characters that end or escape a quoted string, that some recipients decode, or that separate
/// folders.
private func isPlain(_ scalar: UnicodeScalar) -> Bool {
    (0x20...0x7E).contains(scalar.value) && !["\"", "\\", "%", "/"].contains(scalar)
}

/// `attr-char` of RFC 8187 §3.2.1.
private func isAttributeCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "a")...UInt8(ascii: "z"):
        true
    default: "!#$&+-.^_`|~".utf8.contains(byte)
    }
}
