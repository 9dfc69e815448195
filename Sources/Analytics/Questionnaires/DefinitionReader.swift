import JSON
internal import Text

/// Reads a definition to its end and collects all faults.
///
/// Unknown members and `null` are faults.
struct DefinitionReader {
    /// `<path>: <what to do>`
    private(set) var faults: [String] = []

    mutating func note(_ path: String, _ fault: String) { faults.append(path.isEmpty ? fault : "\(path): \(fault)") }

    /// - Parameter path: empty for the root.
    mutating func note(_ name: String, of path: String, _ fault: String) {
        note(path.isEmpty ? name : "\(path).\(name)", fault)
    }

    mutating func object(_ json: JSONValue, at path: String, members: [String]) -> JSONObject? {
        guard case .object(let object) = json else {
            note(path, "must be an object")
            return nil
        }
        for member in object.members where !members.contains(where: { $0.utf8.elementsEqual(member.name.utf8) }) {
            note(path, "has no member \"\(member.name)\"; its members are \(members.joined(separator: ", "))")
        }
        return object
    }

    /// - Returns: the elements, even if there are too few or too many.
    mutating func array(
        _ object: JSONObject, _ name: String, at path: String, _ count: ClosedRange<Int>
    ) -> [JSONValue] {
        let elements = object[name]?.array
        if !count.contains(elements?.count ?? 0) {
            note(name, of: path, "must be an array of \(count.lowerBound) to \(count.upperBound)")
        }
        return elements ?? []
    }

    /// A string that is not blank.
    @discardableResult
    mutating func text(
        _ object: JSONObject, _ name: String, at path: String, longest: Int? = nil
    ) -> String? {
        let text = object[name]?.string
        if let text, !text.trimmed.isEmpty, !text.hasNUL, !text.isLonger(than: longest ?? .max) { return text }
        let limit = longest.map { " of at most \($0) characters" } ?? ""
        note(name, of: path, "must be a string\(limit), not blank and without NUL characters")
        return nil
    }

    @discardableResult
    mutating func optionalString(_ object: JSONObject, _ name: String, at path: String) -> String? {
        guard let value = object[name] else { return nil }
        if let string = value.string, !string.hasNUL { return string }
        note(name, of: path, "must be a string without NUL characters, if it is there")
        return nil
    }

    @discardableResult
    mutating func bool(_ object: JSONObject, _ name: String, at path: String) -> Bool? {
        if case .bool(let value) = object[name] { return value }
        note(name, of: path, "must be true or false")
        return nil
    }
}
