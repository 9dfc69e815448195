import FoundationEssentials

/// Why a value is refused: what is wrong with it, and what to set.
struct InvalidValue: Error {
    let message: String

    init(_ message: String) { self.message = message }
}

/// A value as messages show it: on one line, truncated, in quotes. Not for secrets.
func quoted(_ text: String) -> String {
    let shown = text.unicodeScalars.prefix(120).map { $0.properties.generalCategory == .control ? "?" : String($0) }
    return "\"\(shown.joined())\(text.unicodeScalars.count > 120 ? "…" : "")\""
}

func wholeNumber(_ text: String, in range: ClosedRange<Int>) throws(InvalidValue) -> Int {
    guard let number = Int(text), range.contains(number) else {
        throw InvalidValue("is \(quoted(text)); set a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
}

func absolutePath(_ text: String) throws(InvalidValue) -> String {
    guard text.utf8.first == UInt8(ascii: "/"), !text.utf8.contains(0) else {
        throw InvalidValue("is \(quoted(text)); set an absolute path")
    }
    return text
}

/// A path that fits `sun_path` (unix(7), 108 bytes with the final zero) even with the suffix of the temporary name that
/// a socket is bound to before it is renamed.
func socketPath(_ text: String) throws(InvalidValue) -> String {
    let path = try absolutePath(text)
    guard path.utf8.count <= 90 else {
        throw InvalidValue(
            "has \(path.utf8.count) bytes; set a path of at most 90 bytes, because a socket's path must be short")
    }
    return path
}

/// The members of a comma-separated list: at least one, and no member is empty.
func list(_ text: String) throws(InvalidValue) -> [String] {
    let members = text.split(separator: ",", omittingEmptySubsequences: false).map { member in
        String(member.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
    guard !members.contains("") else {
        throw InvalidValue("is \(quoted(text)) with an empty member; set members separated by single commas")
    }
    return members
}

func isInstanceCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
    default: false
    }
}

/// Workers spend most of a request waiting for the database.
var defaultThreads: Int { max(8, 4 * ProcessInfo.processInfo.activeProcessorCount) }
