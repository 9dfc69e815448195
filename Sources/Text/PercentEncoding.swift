/// RFC 3986 §2.1, for the query.
package enum PercentEncoding {
    /// Encodes everything except unreserved characters, so that every reader decodes the same value.
    package static func encode(_ text: String) -> String { encode(text, keeping: isUnreserved) }

    /// Keeps what is already encoded, and encodes the characters that a query must not have.
    package static func sanitize(_ text: String) -> String {
        encode(text) { isUnreserved($0) || "%!$'()*+,;:@/?=".utf8.contains($0) }
    }

    private static func encode(_ text: String, keeping isKept: (UInt8) -> Bool) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if isKept(byte) {
                bytes.append(byte)
            } else {
                bytes += byte.percentEncoded
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    package static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~".utf8.contains(byte)
        }
    }
}
