import JSON

extension Fuzzer {
    /// Any bytes as JSON. The parser accepts exactly what a simple recognizer accepts. A value that was read and
    /// written reads as the same value. The canonical form is that of RFC 8785.
    static let json = Fuzzer(name: "json", maximumSize: 8192) { input in
        let verdict = JSONRecognizer.verdict(input)
        let value: JSONValue
        do {
            value = try JSONValue(json: input)
            try require(verdict == .valid, "what is read is JSON of at most 64 levels, not \(verdict)")
        } catch let error as JSONError {
            if case .tooDeep = error {
                try require(verdict != .valid, "what is refused as too deep is")
            } else {
                try require(verdict == .malformed, "what is refused with \(error) is no JSON")
            }
            return
        }
        try checkInPlace(ParsedJSON(input).root, value)
        try checkWriting(value)
        try checkCanonical(value)
        // Whatever it makes of them.
        _ = try? Everything(json: input)
        _ = try? [Everything](json: input)
        _ = try? [String: Everything](json: input)
    }

    /// What is read in place is what a copy has.
    private static func checkInPlace(_ parsed: ParsedValue, _ value: JSONValue) throws {
        switch value {
        case .array(let values):
            let elements = parsed.elements ?? []
            try require(elements.count == values.count, "an array read in place has its elements")
            for (element, value) in zip(elements, values) { try checkInPlace(element, value) }
        case .object(let object):
            // Each look-up goes through all members.
            for member in object.members.prefix(20) {
                guard let found = parsed.object?.member(member.name) else {
                    throw Violation("a member is there where its object is read in place")
                }
                try checkInPlace(found, member.value)
            }
        default: try require(parsed.value == value, "what is read in place is the same value")
        }
    }

    private static func checkWriting(_ value: JSONValue) throws {
        let written = value.json()
        let again = try JSONValue(json: written)
        try require(isSame(finite(value), again), "what is written is read as the same value")
        try require(again.json() == written, "writing is stable")
        try require(!written.contains { $0 < 0x20 }, "control characters are escaped")
    }

    private static func checkCanonical(_ value: JSONValue) throws {
        let canonical = value.canonicalJSON()
        let again = try JSONValue(json: canonical)
        try require(again.canonicalJSON() == canonical, "the canonical form is its own")
        try require(isSorted(again), "members are sorted by UTF-16, each name once")
        try require(rounded(again) == rounded(finite(value)), "the canonical form says the same")
        try require(
            JSONRecognizer.verdict(canonical) == .valid && value.json().count * 32 >= canonical.count,
            "the canonical form is JSON of about that size")
    }

    /// Whether the values are equal. A double beyond ±2^53 without a fraction may become the integer of its shortest
    /// digits, which is only near it.
    private static func isSame(_ value: JSONValue, _ written: JSONValue) -> Bool {
        switch (value, written) {
        case (.number(let number), .integer(let integer)):
            number.magnitude > 0x1p53 && number == Double(integer)
        case (.array(let values), .array(let others)):
            values.count == others.count && zip(values, others).allSatisfy(isSame)
        case (.object(let object), .object(let other)):
            object.members.count == other.members.count
                && zip(object.members, other.members).allSatisfy {
                    $0.name.isIdentical(to: $1.name) && isSame($0.value, $1.value)
                }
        default: value == written
        }
    }

    /// The value as it is written: numbers out of range become `null`.
    private static func finite(_ value: JSONValue) -> JSONValue {
        switch value {
        case .number(let number) where !number.isFinite: .null
        case .array(let values): .array(values.map(finite))
        case .object(let object): .object(object.mapValues { finite($1) })
        default: value
        }
    }

    /// The value as the canonical form writes it: every number is a double.
    private static func rounded(_ value: JSONValue) -> JSONValue {
        switch value {
        case .integer(let number): .number(Double(number))
        case .array(let values): .array(values.map(rounded))
        case .object(let object): .object(object.mapValues { rounded($1) })
        default: value
        }
    }

    private static func isSorted(_ value: JSONValue) -> Bool {
        switch value {
        case .array(let values): values.allSatisfy(isSorted)
        case .object(let object):
            object.members.allSatisfy { isSorted($0.value) }
                && zip(object.members, object.members.dropFirst()).allSatisfy {
                    $0.name.utf16.lexicographicallyPrecedes($1.name.utf16)
                }
        default: true
        }
    }
}

/// A body with members of every kind that endpoints ask for.
private struct Everything: Decodable {
    var a: Int?
    var b: [UInt8]?
    var c: Presence<String>
    var d: [String: Double]?
    var e: JSONValue?
    var f: Bool
    @Nullable var g: Int64?
}
