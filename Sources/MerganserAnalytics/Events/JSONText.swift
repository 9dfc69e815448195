/// A JSON object, written member by member (RFC 8259).
///
/// JSONEncoder takes ten times as long for an event; a phone pays for that with its battery.
struct JSONText: ~Copyable {
    private(set) var bytes: [UInt8] = []

    init(reserving count: Int = 0) {
        bytes.reserveCapacity(count)
        bytes.append(UInt8(ascii: "{"))
    }

    /// A missing value is a missing member.
    mutating func member(_ name: StaticString, _ value: String?) {
        guard let value else { return }
        begin(name)
        string(value)
    }

    mutating func member(_ name: StaticString, _ value: Bool) {
        begin(name)
        raw(value ? "true" : "false")
    }

    /// No texts is a missing member.
    mutating func member(_ name: StaticString, _ values: [String]) {
        guard !values.isEmpty else { return }
        begin(name)
        bytes.append(UInt8(ascii: "["))
        for (index, value) in values.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            string(value)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    mutating func member(_ name: StaticString, _ object: [(String, String)]) {
        begin(name)
        bytes.append(UInt8(ascii: "{"))
        for (index, (key, value)) in object.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            string(key)
            bytes.append(UInt8(ascii: ":"))
            string(value)
        }
        bytes.append(UInt8(ascii: "}"))
    }

    /// - Parameter json: is JSON already.
    mutating func member(_ name: StaticString, json: some Sequence<UInt8>) {
        begin(name)
        bytes.append(contentsOf: json)
    }

    consuming func end() -> [UInt8] {
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    private mutating func begin(_ name: StaticString) {
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
        bytes.append(UInt8(ascii: "\""))
        raw(name)
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
    }

    private mutating func raw(_ text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private mutating func string(_ value: String) {
        bytes.append(UInt8(ascii: "\""))
        var value = value
        value.withUTF8 { text in
            var start = 0
            for (index, byte) in text.enumerated() {
                guard let escape = Self.escape(byte) else { continue }
                bytes.append(contentsOf: text[start..<index])
                bytes.append(contentsOf: escape)
                start = index + 1
            }
            bytes.append(contentsOf: text[start...])
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func escape(_ byte: UInt8) -> [UInt8]? {
        switch byte {
        case UInt8(ascii: "\""): Array(#"\""#.utf8)
        case UInt8(ascii: "\\"): Array(#"\\"#.utf8)
        // The server refuses an event with a NUL (analytics §8.2), which says nothing anyway.
        case 0: []
        case 1..<0x20: Array(#"\u00"#.utf8) + [hexadecimal(byte >> 4), hexadecimal(byte & 15)]
        default: nil
        }
    }

    private static func hexadecimal(_ digit: UInt8) -> UInt8 {
        digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
    }
}
