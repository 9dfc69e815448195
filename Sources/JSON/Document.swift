internal import Text

/// A parsed text: one node for each value and each member name, in the order of the text.
final class Document: Sendable {
    static let maximumDepth = 64

    enum Kind: UInt8 {
        case null, `false`, `true`, integer, fraction, string, escapedString, array, object
    }

    struct Node {
        var kind: Kind
        /// The bytes the node covers; for a string those between its quotes.
        var start: Int32
        var end: Int32
        /// The first node behind this one and everything in it.
        var next: Int32
    }

    let bytes: [UInt8]
    let nodes: [Node]

    init(_ bytes: [UInt8]) throws(JSONError) {
        self.bytes = bytes
        nodes = try Parser.parse(bytes)
    }

    func kind(_ node: Int) -> Kind { nodes[node].kind }

    func next(_ node: Int) -> Int { Int(nodes[node].next) }

    func isString(_ node: Int) -> Bool { kind(node) == .string || kind(node) == .escapedString }

    /// Whether it is `null` or `""`. An escape stands for something.
    func isNullOrEmpty(_ node: Int) -> Bool {
        let node = nodes[node]
        return node.kind == .null || node.kind == .string && node.start == node.end
    }

    private func text(_ node: Int) -> ArraySlice<UInt8> { bytes[Int(nodes[node].start)..<Int(nodes[node].end)] }

    func string(_ node: Int) -> String? {
        switch kind(node) {
        case .string: Self.characters(of: nodes[node], in: bytes)
        case .escapedString: String(decoding: unescaped(node), as: UTF8.self)
        default: nil
        }
    }

    /// A node's text. No character is cut in two: strings end at their quotes, numbers are ASCII, and the parser has checked the
    /// whole text.
    private static func characters(of node: Node, in text: [UInt8]) -> String {
        var characters = unsafe UTF8Span(unchecked: text.span.extracting(Int(node.start)..<Int(node.end)))
        // Of at most 15 bytes, `String` does it itself.
        if characters.count > 15 { _ = characters.checkForASCII() }
        return String(copying: characters)
    }

    /// A value's text.
    func json(_ node: Int) -> KeptJSON {
        let quote: Int32 = isString(node) ? 1 : 0
        return KeptJSON(bytes[Int(nodes[node].start - quote)..<Int(nodes[node].end + quote)])
    }

    /// Whether a string in the node, names among them, has an escape. Without one it has no character below U+0020
    /// (RFC 8259 §7).
    func hasEscapes(in node: Int) -> Bool {
        (node..<next(node)).contains { kind($0) == .escapedString }
    }

    /// A string node's value in UTF-8.
    func utf8(_ node: Int) -> ArraySlice<UInt8> {
        kind(node) == .escapedString ? unescaped(node)[...] : text(node)
    }

    /// Whether some string in the node, names among them, has an escape that is half of a surrogate pair.
    func hasLoneSurrogate(in node: Int) -> Bool {
        (node..<next(node)).contains { node in
            guard kind(node) == .escapedString else { return false }
            var pieces = EscapedText(text(node))
            while pieces.next() != nil {}
            return pieces.hasLoneSurrogate
        }
    }

    /// The first string, names among them, that is not stream-safe.
    var firstUnsafeString: Int? {
        let isASCII = isASCII
        return nodes.indices.first { node in
            switch kind(node) {
            case .string: !isASCII && text(node).contains { $0 >= 0x80 } && string(node)?.isStreamSafe == false
            case .escapedString: string(node)?.isStreamSafe == false
            default: false
            }
        }
    }

    /// Whether the whole text is ASCII; the parser has checked that it is UTF-8.
    private var isASCII: Bool {
        let bytes = bytes
        var text = unsafe UTF8Span(unchecked: bytes.span)
        return text.checkForASCII()
    }

    private func unescaped(_ node: Int) -> [UInt8] {
        var pieces = EscapedText(text(node))
        var result: [UInt8] = []
        result.reserveCapacity(pieces.text.count)
        while let piece = pieces.next() {
            switch piece {
            case .byte(let byte): result.append(byte)
            case .scalar(let scalar): result.append(contentsOf: scalar)
            }
        }
        return result
    }

    /// Whether an escaped string's value is this text in UTF-8. Copies nothing, and stops at the first byte that differs.
    func isEscaped(_ node: Int, _ utf8: Span<UInt8>) -> Bool {
        var pieces = EscapedText(text(node))
        var index = 0
        while let piece = pieces.next() {
            switch piece {
            case .byte(let byte):
                guard index < utf8.count, utf8[index] == byte else { return false }
                index += 1
            case .scalar(let scalar):
                for byte in scalar {
                    guard index < utf8.count, utf8[index] == byte else { return false }
                    index += 1
                }
            }
        }
        return index == utf8.count
    }

    /// The number's value if it is integral; one with a fraction or exponent only as far as a double is exact.
    func integer(_ node: Int) -> Int64? {
        switch kind(node) {
        case .integer:
            let text = text(node)
            let isNegative = text.first == UInt8(ascii: "-")
            var value: Int64 = 0
            for byte in text.dropFirst(isNegative ? 1 : 0) {
                let digit = Int64(byte - UInt8(ascii: "0"))
                let (product, overflow) = value.multipliedReportingOverflow(by: 10)
                let (sum, carry) =
                    isNegative ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
                if overflow || carry { return nil }
                value = sum
            }
            return value
        case .fraction:
            guard let value = double(node), value.magnitude <= 0x1p53 else { return nil }
            return Int64(exactly: value)
        default: return nil
        }
    }

    /// The nearest double; nil when there is no finite one.
    func double(_ node: Int) -> Double? {
        guard let value = nearestDouble(node), value.isFinite else { return nil }
        return value
    }

    /// The nearest double, infinite where that is out of range.
    func nearestDouble(_ node: Int) -> Double? {
        guard kind(node) == .integer || kind(node) == .fraction else { return nil }
        return Double(Self.characters(of: nodes[node], in: bytes))
    }

    /// The value node of each element of an array.
    func elements(_ node: Int) -> Children { Children(of: node, in: self, nodesBeforeValue: 0) }

    /// The name node of each member of an object, repeated names included; the value's node is the one behind it.
    func members(_ node: Int) -> Children { Children(of: node, in: self, nodesBeforeValue: 1) }

    /// The node of the value of the last member that a key names. The arrays are retained once, not for each comparison. Whoever
    /// asks for many names takes an `IndexedObject`.
    func member(_ key: String, _ names: MemberNames, of object: Int) -> Int? {
        let (bytes, nodes) = (bytes, nodes)
        let (text, node, key) = (bytes.span, nodes.span, key.utf8Span.span)
        // Most names differ in length already, which is what can be seen first.
        let length = names.areProperties ? nil : Int32(key.count)
        var found: Int?
        var child = object + 1
        let end = Int(node[object].next)
        while child < end {
            let name = node[child]
            if name.kind == .escapedString {
                let isNamed =
                    names.areProperties ? names.isName(unescaped(child).span, of: key) : isEscaped(child, key)
                if isNamed { found = child + 1 }
            } else if length == nil || name.end - name.start == length,
                names.isName(text.extracting(Int(name.start)..<Int(name.end)), of: key)
            {
                found = child + 1
            }
            child = Int(node[child + 1].next)
        }
        return found
    }

    /// The JSON text of an object whose members can be copied as they stand: at most 16, whose values are strings of at most so many
    /// bytes, without an escape and without a repeated name; nil if it is not one.
    func plainText(_ object: Int, valuesAtMost limit: Int) -> [UInt8]? {
        let (bytes, nodes) = (bytes, nodes)
        let (text, node) = (bytes.span, nodes.span)
        let (first, end) = (object + 1, Int(node[object].next))
        func content(_ node: Node) -> Range<Int> { Int(node.start)..<Int(node.end) }
        var length = 2
        // A string is one node, so each member is two.
        for member in stride(from: first, to: end, by: 2) {
            let (name, value) = (node[member], node[member + 1])
            guard member < first + 32, name.kind == .string, value.kind == .string, content(value).count <= limit else {
                return nil
            }
            for earlier in stride(from: first, to: member, by: 2)
            where text.extracting(content(node[earlier])).isEqual(to: text.extracting(content(name))) {
                return nil
            }
            length += content(name).count + content(value).count + #""":"","#.utf8.count
        }
        var result: [UInt8] = []
        result.append(addingCapacity: length) { result in
            func quoted(_ node: Node) -> Range<Int> { Int(node.start) - 1..<Int(node.end) + 1 }
            result.append(UInt8(ascii: "{"))
            for member in stride(from: first, to: end, by: 2) {
                if member > first { result.append(UInt8(ascii: ",")) }
                result.append(copying: text.extracting(quoted(node[member])))
                result.append(UInt8(ascii: ":"))
                result.append(copying: text.extracting(quoted(node[member + 1])))
            }
            result.append(UInt8(ascii: "}"))
        }
        return result
    }

    /// The nodes at which an array's or object's children begin, found one after the other.
    struct Children: Sequence, IteratorProtocol {
        private let document: Document
        private let end: Int
        private let nodesBeforeValue: Int
        private var child: Int

        fileprivate init(of node: Int, in document: Document, nodesBeforeValue: Int) {
            self.document = document
            self.nodesBeforeValue = nodesBeforeValue
            child = node + 1
            end = document.next(node)
        }

        mutating func next() -> Int? {
            guard child < end else { return nil }
            defer { child = document.next(child + nodesBeforeValue) }
            return child
        }

        var count: Int {
            var (rest, count) = (self, 0)
            while rest.next() != nil { count += 1 }
            return count
        }

        /// Walking twice is faster than growing what they are collected in.
        var underestimatedCount: Int { count }
    }

    /// The way from the root to a node.
    func path(to target: Int) -> [any CodingKey] {
        var path: [any CodingKey] = []
        var node = 0
        while node != target {
            if kind(node) == .object {
                guard let name = Array(members(node)).last(where: { $0 < target }) else { return path }
                path.append(AnyKey(string(name) ?? ""))
                node = name + 1
            } else {
                let elements = Array(elements(node))
                guard let index = elements.lastIndex(where: { $0 <= target }) else { return path }
                path.append(AnyKey(index))
                node = elements[index]
            }
        }
        return path
    }
}

func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
