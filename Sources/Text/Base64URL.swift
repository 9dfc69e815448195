/// Base64url without padding (RFC 7515 §2).
package enum Base64URL {
    private static let alphabet = Base64Alphabet(ending: "-_")

    package static func encode(_ bytes: [UInt8]) -> String {
        String(decoding: alphabet.encode(bytes.span), as: UTF8.self)
    }

    package static func decode(_ text: String) -> [UInt8]? { decode(Array(text.utf8)) }

    /// Decoding is strict: no padding, no white space, no bits set after the last byte. So each byte string has only
    /// one text.
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? { decode(Array(text)) }

    package static func decode(_ text: [UInt8]) -> [UInt8]? { alphabet.decode(text.span) }
}

/// Base64 (RFC 4648 §4).
package enum Base64 {
    private static let alphabet = Base64Alphabet(ending: "+/")

    /// With padding.
    package static func encode(_ bytes: [UInt8]) -> String {
        var text = alphabet.encode(bytes.span)
        while !text.count.isMultiple(of: 4) { text.append(UInt8(ascii: "=")) }
        return String(decoding: text, as: UTF8.self)
    }

    /// With or without its padding, and as strict about the rest as `Base64URL`.
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? { decode(ArraySlice(text)) }

    package static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? { decode(text.span) }

    private static func decode(_ text: Span<UInt8>) -> [UInt8]? {
        var end = text.count
        while end > 0, end + 2 > text.count, text[end - 1] == UInt8(ascii: "=") { end -= 1 }
        return alphabet.decode(text.extracting(..<end))
    }
}

/// The 64 characters of one of the alphabets of RFC 4648.
private struct Base64Alphabet {
    private let characters: [UInt8]
    /// The value of each character; 64 for every other byte.
    private let values: [UInt8]

    /// - Parameter last: the last two characters.
    init(ending last: String) {
        let characters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789\(last)".utf8)
        self.characters = characters
        values = (UInt8.min...UInt8.max).map { byte in characters.firstIndex(of: byte).map(UInt8.init) ?? 64 }
    }

    // Where nothing is appended, the standard library would write the count of the empty array that all threads share.

    /// Without padding.
    func encode(_ bytes: Span<UInt8>) -> [UInt8] {
        if bytes.isEmpty { return [] }
        let characters = characters.span
        var text: [UInt8] = []
        text.append(addingCapacity: (bytes.count * 4 + 2) / 3) { text in
            func append(_ bits: UInt8) { text.append(characters[Int(bits & 63)]) }
            var index = 0
            while index + 3 <= bytes.count {
                let (first, second, third) = (bytes[index], bytes[index + 1], bytes[index + 2])
                append(first >> 2)
                append(first << 4 | second >> 4)
                append(second << 2 | third >> 6)
                append(third)
                index += 3
            }
            guard index < bytes.count else { return }
            append(bytes[index] >> 2)
            if index + 1 < bytes.count {
                append(bytes[index] << 4 | bytes[index + 1] >> 4)
                append(bytes[index + 1] << 2)
            } else {
                append(bytes[index] << 4)
            }
        }
        return text
    }

    /// Strict, as `Base64URL.decode` says.
    func decode(_ text: Span<UInt8>) -> [UInt8]? {
        guard text.count > 1 else { return text.isEmpty ? [] : nil }
        let values = values.span
        // Stays below 64 unless a character is not of the alphabet.
        var all: UInt8 = 0
        var unused: UInt8 = 0
        var bytes: [UInt8] = []
        bytes.append(addingCapacity: text.count * 3 / 4) { bytes in
            func value(_ index: Int) -> UInt8 {
                let value = values[Int(text[index])]
                all |= value
                return value
            }
            var index = 0
            while index + 4 <= text.count {
                let (second, third) = (value(index + 1), value(index + 2))
                bytes.append(value(index) << 2 | second >> 4)
                bytes.append(second << 4 | third >> 2)
                bytes.append(third << 6 | value(index + 3))
                index += 4
            }
            guard index + 2 <= text.count else { return }
            let second = value(index + 1)
            bytes.append(value(index) << 2 | second >> 4)
            unused = second & 0xF
            guard index + 3 <= text.count else { return }
            let third = value(index + 2)
            bytes.append(second << 4 | third >> 2)
            unused = third & 3
        }
        guard text.count & 3 != 1, all < 64, unused == 0 else { return nil }
        return bytes
    }
}
