package import JSON

/// An end user's properties: strings by key, keys compared byte for byte (analytics §6).
package struct Properties: Sendable {
    package typealias Entry = (key: String, value: String)

    /// How many a client may set.
    package static let maximumCount = 50

    package private(set) var entries: [Entry]

    init(_ entries: [Entry] = []) { self.entries = entries }

    /// - Parameter stored: a JSON object of strings, or nil.
    init(stored: String?) throws {
        guard let stored, case .object(let object) = try JSONValue(json: Array(stored.utf8)) else {
            self.init()
            return
        }
        self.init(object.members.map { ($0.name, $0.value.string ?? "") })
    }

    package subscript(key: String) -> String? { entries.first { $0.key.utf8.elementsEqual(key.utf8) }?.value }

    /// Sets each key to its value; an empty value deletes the key.
    mutating func apply(_ changes: [Entry]) {
        for change in changes {
            let index = entries.firstIndex { $0.key.utf8.elementsEqual(change.key.utf8) }
            switch (index, change.value.isEmpty) {
            case (let index?, true): entries.remove(at: index)
            case (let index?, false): entries[index].value = change.value
            case (nil, true): break
            case (nil, false): entries.append(change)
            }
        }
    }

    /// What a merge makes of them: all of these, and of the anonymous record's other keys those that the server wrote, then
    /// the rest in ascending order while there is room (§6.2).
    mutating func absorb(_ anonymous: Properties) {
        let others = anonymous.entries.filter { self[$0.key] == nil }.sorted {
            $0.key.utf8.lexicographicallyPrecedes($1.key.utf8)
        }
        entries += others.filter { Self.isServerWritten($0.key) }
        entries += others.filter { !Self.isServerWritten($0.key) }.prefix(max(0, Self.maximumCount - entries.count))
    }

    /// The moment all questionnaires were dismissed (§12).
    package static let dismissedAt = "_questionnaires_dismissed_at"
    /// The network that brought the user (§7).
    package static let attributionSource = "attribution_source"

    private static func isServerWritten(_ key: String) -> Bool {
        key.utf8.elementsEqual(attributionSource.utf8) || key.utf8.elementsEqual(dismissedAt.utf8)
            || key.utf8.starts(with: "asa_".utf8)
    }

    /// As the wire and the table have them.
    package var object: JSONObject { JSONObject(entries.map { ($0.key, .string($0.value)) }) }
}

extension Properties: Equatable {
    package static func == (left: Self, right: Self) -> Bool { left.object == right.object }
}
