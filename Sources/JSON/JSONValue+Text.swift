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
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .integer(let value): bytes += value.description.utf8
        case .number(let value): bytes += (value.isFinite ? ecmaScript(value) : "null").utf8
        case .string(let value): appendQuoted(value.utf8, to: &bytes)
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
                appendQuoted(member.name.utf8, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }
}

/// Appends a JSON string: `"`, `\` and control characters escaped, the short escapes where there are any.
func appendQuoted(_ utf8: some Collection<UInt8>, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    let start = bytes.count
    bytes.append(contentsOf: utf8)
    // Looked through in place, which is faster than through a string's view; a slice would have the array copied.
    if (start..<bytes.count).contains(where: { needsEscape(bytes[$0]) }) {
        bytes.removeSubrange(start...)
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "\""): bytes += #"\""#.utf8
            case UInt8(ascii: "\\"): bytes += #"\\"#.utf8
            case 0x08: bytes += #"\b"#.utf8
            case 0x09: bytes += #"\t"#.utf8
            case 0x0A: bytes += #"\n"#.utf8
            case 0x0C: bytes += #"\f"#.utf8
            case 0x0D: bytes += #"\r"#.utf8
            case 0..<0x20: bytes += "\\u00\([byte].hexadecimal)".utf8
            default: bytes.append(byte)
            }
        }
    }
    bytes.append(UInt8(ascii: "\""))
}

private func needsEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
}
