internal import Text

/// A query string that is decoded as form data (WHATWG URL §5.1): `+` is a space, malformed escapes stand for
/// themselves, bytes that are not UTF-8 become U+FFFD. If several parameters have the same name, the first one counts.
package struct QueryParameters {
    private let bytes: [UInt8]
    private let values: [(name: String, encoded: Range<Int>)]

    private init(bytes: [UInt8], values: [(name: String, encoded: Range<Int>)]) {
        self.bytes = bytes
        self.values = values
    }

    package init(_ query: String) { self.init(Array(query.utf8)) }

    package init(_ query: [UInt8]) {
        var values: [(name: String, encoded: Range<Int>)] = []
        var start = 0
        while start < query.count {
            let end = query.span.firstIndex(of: UInt8(ascii: "&"), from: start)
            if start < end {
                let equals = query.span.extracting(..<end).firstIndex(of: UInt8(ascii: "="), from: start)
                values.append((Self.decoded(query[start..<equals]), min(equals + 1, end)..<end))
            }
            start = end + 1
        }
        self.init(bytes: query, values: values)
    }

    /// Without parameters that are empty or have no `=`.
    package var withoutEmptyValues: QueryParameters {
        QueryParameters(bytes: bytes, values: values.filter { !$0.encoded.isEmpty })
    }

    package subscript(name: String) -> String? { first(name).map { Self.decoded(bytes[$0]) } }

    /// The value, for comparison: a value that is not stream-safe counts as not sent.
    package func comparable(_ name: String) -> String? { self[name].flatMap { $0.isStreamSafe ? $0 : nil } }

    /// Every value of that name, in order.
    package func all(_ name: String) -> [String] {
        values.lazy.filter { $0.name.hasSameBytes(as: name) }.map { Self.decoded(bytes[$0.encoded]) }
    }

    /// The value as it was sent.
    package func encoded(_ name: String) -> String? { first(name).map { String(decoding: bytes[$0], as: UTF8.self) } }

    private func first(_ name: String) -> Range<Int>? {
        values.first { $0.name.hasSameBytes(as: name) }?.encoded
    }

    package static func decoded(_ text: String.UTF8View) -> String { decoded(Array(text)[...]) }

    package static func decoded(_ text: ArraySlice<UInt8>) -> String {
        // Most have nothing to decode, among them tokens, which are the longest.
        guard text.span.contains(UInt8(ascii: "%"), or: UInt8(ascii: "+")) else {
            return String(decoding: text, as: UTF8.self)
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var from = text.startIndex
        while from < text.endIndex {
            let byte = text[from]
            if byte == UInt8(ascii: "%"), from + 2 < text.endIndex, let high = text[from + 1].hexadecimalValue,
                let low = text[from + 2].hexadecimalValue
            {
                bytes.append(high << 4 | low)
                from += 3
            } else {
                bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
                from += 1
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
