import Text

/// An object's members in order, each name once. Names are compared byte for byte.
package struct JSONObject: Sendable {
    package struct Member: Sendable {
        package let name: String
        package let value: JSONValue
    }

    package private(set) var members: [Member]

    /// Of members with the same name the last one stays.
    package init(_ members: [(String, JSONValue)]) { self.init(members: members.map(Member.init)) }

    init(members: [Member]) {
        self.members = members
        guard hasRepeatedNames else { return }
        var seen: Set<MemberName> = []
        self.members = members.reversed().filter { seen.insert(MemberName($0.name)).inserted }.reversed()
    }

    /// Comparing all with all is faster than a set for the few members that objects have.
    private var hasRepeatedNames: Bool {
        members.count > 32
            || members.indices.contains { index in
                (0..<index).contains { members[$0].name.hasSameBytes(as: members[index].name) }
            }
    }

    package subscript(name: String) -> JSONValue? {
        for index in members.indices where members[index].name.hasSameBytes(as: name) { return members[index].value }
        return nil
    }

    /// The same names with other values.
    package func mapValues(_ transform: (String, JSONValue) -> JSONValue) -> JSONObject {
        var object = JSONObject(members: [])
        object.members = members.map { Member(name: $0.name, value: transform($0.name, $0.value)) }
        return object
    }

    fileprivate var sorted: [Member] {
        members.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }
}

extension JSONObject: Equatable {
    package static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.sorted.elementsEqual(right.sorted) { $0.name.hasSameBytes(as: $1.name) && $0.value == $1.value }
    }
}
