/// An object's members in order, each name once. Names are compared byte for byte.
package struct JSONObject: Sendable {
    package private(set) var members: [(name: String, value: JSONValue)]

    /// Of members with the same name the last one stays.
    package init(_ members: [(String, JSONValue)]) {
        var seen: Set<[UInt8]> = []
        self.members = members.reversed().filter { seen.insert(Array($0.0.utf8)).inserted }.reversed()
    }

    package subscript(name: String) -> JSONValue? {
        members.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
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

extension JSONObject: Equatable {
    package static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.sorted.elementsEqual(right.sorted) { $0.name.utf8.elementsEqual($1.name.utf8) && $0.value == $1.value }
    }
}
