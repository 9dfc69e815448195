internal import Text

extension JSONValue {
    /// As of any `Encodable`, written without the detour of one.
    package func json() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256)
        append(to: &bytes)
        return bytes
    }

    package func append(to bytes: inout [UInt8]) {
        switch self {
        case .null: appendNull(to: &bytes)
        case .bool(let value): JSON.append(value, to: &bytes)
        case .integer(let value): bytes.append(decimal: value)
        case .number(let value): bytes += (value.isFinite ? ecmaScript(value) : "null").utf8
        case .string(let value): appendQuoted(value, to: &bytes)
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                value.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let object):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in object.members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                appendQuoted(member.name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }
}

func appendNull(to bytes: inout [UInt8]) {
    bytes.append(addingCapacity: 4) { text in text.append("null") }
}

func append(_ value: Bool, to bytes: inout [UInt8]) {
    bytes.append(addingCapacity: 5) { text in text.append(value ? "true" : "false") }
}

/// Appends a JSON string: `"`, `\` and control characters escaped, the short escapes where there are any.
func appendQuoted(_ text: String, to bytes: inout [UInt8]) {
    let utf8 = text.utf8Span.span
    guard utf8.firstSpecial() == utf8.count else { return appendQuoted(utf8, to: &bytes) }
    // Hardly any text needs an escape, so it is copied at once.
    bytes.append(addingCapacity: utf8.count + 2) { bytes in bytes.append(quoted: utf8) }
}

extension OutputSpan<UInt8> {
    /// - Parameter text: nothing in it needs an escape.
    mutating func append(quoted text: Span<UInt8>) {
        append(UInt8(ascii: "\""))
        append(copying: text)
        append(UInt8(ascii: "\""))
    }
}

/// The same of a text in UTF-8.
func appendQuoted(_ utf8: Span<UInt8>, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    var start = 0
    while true {
        let end = utf8.firstSpecial(from: start)
        append(utf8.extracting(start..<end), to: &bytes)
        if end == utf8.count { break }
        appendEscape(of: utf8[end], to: &bytes)
        start = end + 1
    }
    bytes.append(UInt8(ascii: "\""))
}

private func appendEscape(of byte: UInt8, to bytes: inout [UInt8]) {
    switch byte {
    case UInt8(ascii: "\""): bytes += #"\""#.utf8
    case UInt8(ascii: "\\"): bytes += #"\\"#.utf8
    case 0x08: bytes += #"\b"#.utf8
    case 0x09: bytes += #"\t"#.utf8
    case 0x0A: bytes += #"\n"#.utf8
    case 0x0C: bytes += #"\f"#.utf8
    case 0x0D: bytes += #"\r"#.utf8
    default: bytes += "\\u00\([byte].hexadecimal)".utf8
    }
}

private func append(_ utf8: Span<UInt8>, to bytes: inout [UInt8]) {
    bytes.append(addingCapacity: utf8.count) { rest in rest.append(copying: utf8) }
}
