/// An object's members in order, each name once. Names are compared byte for byte.
package struct JSONObject: Sendable {
    package private(set) var members: [(name: String, value: JSONValue)]

    /// Of members with the same name the last one stays.
    package init(_ members: [(String, JSONValue)]) { self.init(members: members.map { (name: $0, value: $1) }) }

    init(members: [(name: String, value: JSONValue)]) {
        self.members = members
        guard hasRepeatedNames else { return }
        var seen: Set<[UInt8]> = []
        self.members = members.reversed().filter { seen.insert(Array($0.name.utf8)).inserted }.reversed()
    }

    /// Comparing all with all is faster than a set for the few members that objects have.
    private var hasRepeatedNames: Bool {
        members.count > 32
            || members.indices.contains { index in
                (0..<index).contains { isSameName(members[$0].name, members[index].name) }
            }
    }

    package subscript(name: String) -> JSONValue? {
        members.indices.first { isSameName(members[$0].name, name) }.map { members[$0].value }
    }

    /// The same names with other values.
    package func mapValues(_ transform: (String, JSONValue) -> JSONValue) -> JSONObject {
        var object = self
        for index in members.indices {
            object.members[index].value = transform(members[index].name, members[index].value)
        }
        return object
    }

    fileprivate var sorted: [(name: String, value: JSONValue)] {
        members.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }
}

/// `String` takes canonically equivalent spellings for equal.
private func isSameName(_ left: String, _ right: String) -> Bool {
    let (left, right) = (left.utf8Span.span, right.utf8Span.span)
    guard left.count == right.count else { return false }
    for index in left.indices where left[index] != right[index] { return false }
    return true
}

extension JSONObject: Equatable {
    package static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.sorted.elementsEqual(right.sorted) { $0.name.utf8.elementsEqual($1.name.utf8) && $0.value == $1.value }
    }
}
