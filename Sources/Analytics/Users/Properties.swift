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

    /// Costs what there is, however many keys are deleted.
    mutating func apply(_ changes: PropertyChanges) {
        let known = Set(entries.map { MemberName($0.key) })
        entries = entries.compactMap { entry in
            let value = changes[entry.key] ?? entry.value
            return value.isEmpty ? nil : (entry.key, value)
        }
        entries += changes.sets.filter { !known.contains(MemberName($0.key)) }
    }

    /// What a merge makes of them: all of these, and of the anonymous record's other keys those that the server wrote, then
    /// the rest in ascending order while there is room (§6.2).
    mutating func absorb(_ anonymous: Properties) {
        let known = Set(entries.map { MemberName($0.key) })
        let others = anonymous.entries.filter { !known.contains(MemberName($0.key)) }.sorted {
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

/// What one request sets and deletes, in one step. Made before anything is locked.
package struct PropertyChanges: Sendable {
    /// In the order of the request.
    let sets: [Properties.Entry]
    /// Of every key that is named; empty for one to delete.
    private let values: [MemberName: String]

    /// - Parameter entries: each key once. An empty value deletes its key.
    package init(_ entries: [Properties.Entry]) {
        sets = entries.filter { !$0.value.isEmpty }
        values = Dictionary(entries.map { (MemberName($0.key), $0.value) }, uniquingKeysWith: { $1 })
    }

    var isEmpty: Bool { values.isEmpty }

    subscript(key: String) -> String? { values[MemberName(key)] }
}

extension Refusal {
    static let tooManyProperties = Refusal.invalid(
        "Total properties count exceeds max of \(Properties.maximumCount)")
}

extension Properties: Equatable {
    package static func == (left: Self, right: Self) -> Bool { left.object == right.object }
}
