package import JSON

/// An end user's properties: strings by key, keys compared byte for byte (analytics §6).
package struct Properties: Sendable {
    package typealias Entry = (key: String, value: String)

    /// How many a client may set.
    package static let maximumCount = 50
    /// How many there may be before a merge leaves `asa_` keys out that only a client can have written: those of two users
    /// fit in. Without it each claim could bring 50 more.
    static let maximumMergedCount = 100

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

    /// What a merge makes of them: all of these, and of the anonymous record's other keys those that the server writes, then
    /// the rest in ascending order while there is room (§6.2); for `asa_` keys there is more.
    mutating func absorb(_ anonymous: Properties) {
        let known = Set(entries.map { MemberName($0.key) })
        let others = anonymous.entries.filter { !known.contains(MemberName($0.key)) }.sorted {
            $0.key.utf8.lexicographicallyPrecedes($1.key.utf8)
        }
        func add(_ kind: Kind, atMost count: Int) {
            entries += others.filter { Kind($0.key) == kind }.prefix(max(0, count - entries.count))
        }
        add(.serverWritten, atMost: .max)
        add(.attribution, atMost: Self.maximumMergedCount)
        add(.other, atMost: Self.maximumCount)
    }

    /// The moment all questionnaires were dismissed (§12).
    package static let dismissedAt = "_questionnaires_dismissed_at"
    /// The network that brought the user (§7).
    package static let attributionSource = "attribution_source"

    /// How a merge treats a key.
    private enum Kind {
        case serverWritten
        /// Another that begins with `asa_`.
        case attribution
        case other

        init(_ key: String) {
            if serverWrittenNames.contains(MemberName(key)) {
                self = .serverWritten
            } else {
                self = key.utf8.starts(with: "asa_".utf8) ? .attribution : .other
            }
        }
    }

    private static let serverWrittenNames = Set(([dismissedAt] + Attribution.propertyNames).map { MemberName($0) })

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
