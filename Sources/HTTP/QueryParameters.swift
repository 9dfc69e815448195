/// A query string decoded as form data (WHATWG URL §5.1): `+` is a space, malformed escapes stand for themselves, bytes
/// that are no UTF-8 become U+FFFD. Of parameters with the same name the first counts.
package struct QueryParameters {
    private let values: [(name: String, encoded: Substring)]

    package init(_ query: String) {
        values = query.utf8.split(separator: UInt8(ascii: "&")).map { part in
            let name = part.prefix { $0 != UInt8(ascii: "=") }
            return (Self.decoded(name), Substring(part.dropFirst(name.count + 1)))
        }
    }

    package subscript(name: String) -> String? { encoded(name).map { Self.decoded($0.utf8) } }

    /// Every value of that name, in order.
    package func all(_ name: String) -> [String] {
        values.filter { $0.name.utf8.elementsEqual(name.utf8) }.map { Self.decoded($0.encoded.utf8) }
    }

    /// The value as it was sent.
    package func encoded(_ name: String) -> Substring? {
        values.first { $0.name.utf8.elementsEqual(name.utf8) }?.encoded
    }

    package static func decoded(_ text: some Sequence<UInt8>) -> String {
        var bytes = Array(text)
        // In place: what is decoded is never longer than what was sent.
        var (from, to) = (0, 0)
        while from < bytes.count {
            let byte = bytes[from]
            if byte == UInt8(ascii: "%"), from + 2 < bytes.count, let high = hexadecimalDigit(bytes[from + 1]),
                let low = hexadecimalDigit(bytes[from + 2])
            {
                bytes[to] = high << 4 | low
                from += 3
            } else {
                bytes[to] = byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte
                from += 1
            }
            to += 1
        }
        return String(decoding: bytes[..<to], as: UTF8.self)
    }
}

private func hexadecimalDigit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
}
