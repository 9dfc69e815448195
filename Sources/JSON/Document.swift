/// A parsed text: one node for each value and each member name, in the order of the text.
final class Document {
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
    private(set) var nodes: [Node] = []

    init(_ bytes: [UInt8]) throws(JSONError) {
        self.bytes = bytes
        guard bytes.count < Int32.max else { throw .malformed(offset: 0) }
        do {
            _ = try UTF8Span(validating: bytes.span)
        } catch {
            throw .malformed(offset: error.byteOffsets.lowerBound)
        }
        nodes.reserveCapacity(min(bytes.count / 6 + 1, 4096))
        var offset = 0
        try parseValue(&offset, depth: 0)
        skipSpace(&offset)
        guard offset == bytes.count else { throw .malformed(offset: offset) }
    }

    // MARK: Parsing

    private func skipSpace(_ offset: inout Int) {
        while offset < bytes.count, bytes[offset] <= 0x20 {
            switch bytes[offset] {
            case 0x20, 0x0A, 0x0D, 0x09: offset += 1
            default: return
            }
        }
    }

    private func parseValue(_ offset: inout Int, depth: Int) throws(JSONError) {
        skipSpace(&offset)
        guard offset < bytes.count else { throw .malformed(offset: offset) }
        switch bytes[offset] {
        case UInt8(ascii: "{"): try parseContainer(.object, closing: UInt8(ascii: "}"), &offset, depth: depth)
        case UInt8(ascii: "["): try parseContainer(.array, closing: UInt8(ascii: "]"), &offset, depth: depth)
        case UInt8(ascii: "\""): try parseString(&offset)
        case UInt8(ascii: "t"): try parseWord("true", .true, &offset)
        case UInt8(ascii: "f"): try parseWord("false", .false, &offset)
        case UInt8(ascii: "n"): try parseWord("null", .null, &offset)
        default: try parseNumber(&offset)
        }
    }

    private func parseContainer(
        _ kind: Kind, closing: UInt8, _ offset: inout Int, depth: Int
    ) throws(JSONError) {
        guard depth < Document.maximumDepth else { throw .tooDeep(offset: offset) }
        let node = nodes.count
        nodes.append(Node(kind: kind, start: Int32(offset), end: 0, next: 0))
        offset += 1
        skipSpace(&offset)
        if offset < bytes.count, bytes[offset] == closing {
            offset += 1
        } else {
            while true {
                if kind == .object {
                    skipSpace(&offset)
                    guard offset < bytes.count, bytes[offset] == UInt8(ascii: "\"") else {
                        throw .malformed(offset: offset)
                    }
                    try parseString(&offset)
                    skipSpace(&offset)
                    guard offset < bytes.count, bytes[offset] == UInt8(ascii: ":") else {
                        throw .malformed(offset: offset)
                    }
                    offset += 1
                }
                try parseValue(&offset, depth: depth + 1)
                skipSpace(&offset)
                guard offset < bytes.count else { throw .malformed(offset: offset) }
                let byte = bytes[offset]
                guard byte == closing || byte == UInt8(ascii: ",") else { throw .malformed(offset: offset) }
                offset += 1
                if byte == closing { break }
            }
        }
        nodes[node].end = Int32(offset)
        nodes[node].next = Int32(nodes.count)
    }

    private func parseWord(_ word: StaticString, _ kind: Kind, _ offset: inout Int) throws(JSONError) {
        let end = offset + word.utf8CodeUnitCount
        guard end <= bytes.count, bytes[offset..<end].elementsEqual(word.description.utf8) else {
            throw .malformed(offset: offset)
        }
        append(kind, offset, end)
        offset = end
    }

    private func append(_ kind: Kind, _ start: Int, _ end: Int) {
        nodes.append(Node(kind: kind, start: Int32(start), end: Int32(end), next: Int32(nodes.count + 1)))
    }

    private func parseString(_ offset: inout Int) throws(JSONError) {
        let start = offset + 1
        var position = start
        var kind = Kind.string
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                append(kind, start, position)
                offset = position + 1
                return
            case UInt8(ascii: "\\"):
                kind = .escapedString
                position = try endOfEscape(position)
            case 0..<0x20: throw .malformed(offset: position)
            default: position += 1
            }
        }
        throw .malformed(offset: position)
    }

    private func endOfEscape(_ position: Int) throws(JSONError) -> Int {
        guard position + 1 < bytes.count else { throw .malformed(offset: position) }
        switch bytes[position + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return position + 2
        case UInt8(ascii: "u"):
            let end = position + 6
            guard end <= bytes.count, bytes[position + 2..<end].allSatisfy({ hexDigit($0) != nil }) else {
                throw .malformed(offset: position)
            }
            return end
        default: throw .malformed(offset: position)
        }
    }

    private func parseNumber(_ offset: inout Int) throws(JSONError) {
        var position = offset
        func digit() -> Bool { position < bytes.count && isDigit(bytes[position]) }
        func take(_ byte: UInt8) -> Bool {
            guard position < bytes.count, bytes[position] == byte else { return false }
            position += 1
            return true
        }
        _ = take(UInt8(ascii: "-"))
        guard digit() else { throw .malformed(offset: position) }
        if !take(UInt8(ascii: "0")) { while digit() { position += 1 } }
        var kind = Kind.integer
        if take(UInt8(ascii: ".")) {
            kind = .fraction
            guard digit() else { throw .malformed(offset: position) }
            while digit() { position += 1 }
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            kind = .fraction
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            guard digit() else { throw .malformed(offset: position) }
            while digit() { position += 1 }
        }
        append(kind, offset, position)
        offset = position
    }

    // MARK: Reading

    func kind(_ node: Int) -> Kind { nodes[node].kind }

    func next(_ node: Int) -> Int { Int(nodes[node].next) }

    private func text(_ node: Int) -> ArraySlice<UInt8> { bytes[Int(nodes[node].start)..<Int(nodes[node].end)] }

    func string(_ node: Int) -> String? {
        switch kind(node) {
        case .string: String(decoding: text(node), as: UTF8.self)
        case .escapedString: String(decoding: unescaped(node), as: UTF8.self)
        default: nil
        }
    }

    /// A string node's value in UTF-8.
    func utf8(_ node: Int) -> ArraySlice<UInt8> { kind(node) == .escapedString ? unescaped(node)[...] : text(node) }

    private func unescaped(_ node: Int) -> [UInt8] {
        let text = text(node)
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var position = text.startIndex
        func codeUnit(at position: Int) -> UInt16? {
            guard position + 6 <= text.endIndex, text[position] == UInt8(ascii: "\\"),
                text[position + 1] == UInt8(ascii: "u")
            else { return nil }
            return text[position + 2..<position + 6].reduce(0) { $0 << 4 | UInt16(hexDigit($1) ?? 0) }
        }
        while position < text.endIndex {
            if let unit = codeUnit(at: position) {
                position += 6
                var scalar = Unicode.Scalar(unit) ?? "\u{FFFD}"
                if UTF16.isLeadSurrogate(unit), let trail = codeUnit(at: position), UTF16.isTrailSurrogate(trail) {
                    position += 6
                    scalar = UTF16.decode(UTF16.EncodedScalar([unit, trail]))
                }
                result.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            } else if text[position] == UInt8(ascii: "\\") {
                let character: UInt8 =
                    switch text[position + 1] {
                    case UInt8(ascii: "b"): 0x08
                    case UInt8(ascii: "f"): 0x0C
                    case UInt8(ascii: "n"): 0x0A
                    case UInt8(ascii: "r"): 0x0D
                    case UInt8(ascii: "t"): 0x09
                    case let itself: itself
                    }
                result.append(character)
                position += 2
            } else {
                result.append(text[position])
                position += 1
            }
        }
        return result
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
        return Double(String(decoding: text(node), as: UTF8.self))
    }

    /// The value nodes of an array.
    func elements(_ node: Int) -> [Int] {
        var elements: [Int] = []
        var child = node + 1
        while child < next(node) {
            elements.append(child)
            child = next(child)
        }
        return elements
    }

    /// The name node of each member of an object, repeated names included; the value's node is the one behind it.
    func members(_ node: Int) -> [Int] {
        var members: [Int] = []
        var child = node + 1
        while child < next(node) {
            members.append(child)
            child = next(child + 1)
        }
        return members
    }

    /// The way from the root to a node.
    func path(to target: Int) -> [any CodingKey] {
        var path: [any CodingKey] = []
        var node = 0
        while node != target {
            if kind(node) == .object {
                guard let name = members(node).last(where: { $0 < target }) else { return path }
                path.append(AnyKey(string(name) ?? ""))
                node = name + 1
            } else {
                let elements = elements(node)
                guard let index = elements.lastIndex(where: { $0 <= target }) else { return path }
                path.append(AnyKey(index))
                node = elements[index]
            }
        }
        return path
    }
}

func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

private func hexDigit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
}
