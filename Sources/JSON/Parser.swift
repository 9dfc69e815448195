internal import Text

/// Turns a text into a document's nodes. A value, so that what it appends to is nobody else's: access to a class's members
/// is checked each time.
struct Parser {
    private let bytes: [UInt8]
    private var nodes: [Document.Node] = []

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
        // What apps send has at least twelve bytes for each node.
        nodes.reserveCapacity(min(bytes.count / 12 + 8, 16_384))
    }

    static func parse(_ bytes: [UInt8]) throws(JSONError) -> [Document.Node] {
        guard bytes.count < Int32.max else { throw .malformed(offset: 0) }
        do {
            _ = try UTF8Span(validating: bytes.span)
        } catch {
            throw .malformed(offset: error.byteOffsets.lowerBound)
        }
        var parser = Parser(bytes)
        var offset = 0
        try parser.parseValue(&offset, depth: 0)
        parser.skipSpace(&offset)
        guard offset == bytes.count else { throw .malformed(offset: offset) }
        return parser.nodes
    }

    private func skipSpace(_ offset: inout Int) {
        while offset < bytes.count, bytes[offset] <= 0x20 {
            switch bytes[offset] {
            case 0x20, 0x0A, 0x0D, 0x09: offset += 1
            default: return
            }
        }
    }

    private mutating func parseValue(_ offset: inout Int, depth: Int) throws(JSONError) {
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

    private mutating func parseContainer(
        _ kind: Document.Kind, closing: UInt8, _ offset: inout Int, depth: Int
    ) throws(JSONError) {
        guard depth < Document.maximumDepth else { throw .tooDeep(offset: offset) }
        let node = nodes.count
        nodes.append(Document.Node(kind: kind, start: Int32(offset), end: 0, next: 0))
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

    private mutating func parseWord(_ word: StaticString, _ kind: Document.Kind, _ offset: inout Int) throws(JSONError)
    {
        let end = offset + word.utf8CodeUnitCount
        guard end <= bytes.count, bytes[offset..<end].elementsEqual(word.description.utf8) else {
            throw .malformed(offset: offset)
        }
        append(kind, offset, end)
        offset = end
    }

    private mutating func append(_ kind: Document.Kind, _ start: Int, _ end: Int) {
        nodes.append(Document.Node(kind: kind, start: Int32(start), end: Int32(end), next: Int32(nodes.count + 1)))
    }

    private mutating func parseString(_ offset: inout Int) throws(JSONError) {
        let start = offset + 1
        var position = start
        var kind = Document.Kind.string
        while true {
            position = bytes.span.firstSpecial(from: position)
            guard position < bytes.count else { throw .malformed(offset: position) }
            switch bytes[position] {
            case UInt8(ascii: "\""):
                append(kind, start, position)
                offset = position + 1
                return
            case UInt8(ascii: "\\"):
                kind = .escapedString
                position = try endOfEscape(position)
            default: throw .malformed(offset: position)
            }
        }
    }

    private func endOfEscape(_ position: Int) throws(JSONError) -> Int {
        guard position + 1 < bytes.count else { throw .malformed(offset: position) }
        switch bytes[position + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return position + 2
        case UInt8(ascii: "u"):
            let end = position + 6
            guard end <= bytes.count, bytes[position + 2..<end].allSatisfy({ $0.hexadecimalValue != nil }) else {
                throw .malformed(offset: position)
            }
            return end
        default: throw .malformed(offset: position)
        }
    }

    private mutating func parseNumber(_ offset: inout Int) throws(JSONError) {
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
        var kind = Document.Kind.integer
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
}
