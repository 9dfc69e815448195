package import JSON
import Text

/// An end user's properties: a string for each key (analytics §6). Keys are compared byte for byte.
package struct Properties: Sendable {
    package typealias Entry = (key: String, value: String)

    /// The most properties that a client may set.
    package static let maximumCount = 50
    /// The most properties that a merge may produce by adding `asa_` keys that only a client can have written. Two
    /// users' properties fit. Without this limit, each claim could add 50 more.
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

    package subscript(key: String) -> String? { entries.first { $0.key.hasSameBytes(as: key) }?.value }

    /// The cost depends on the stored properties, not on the number of deleted keys.
    mutating func apply(_ changes: PropertyChanges) {
        let known = Set(entries.map { MemberName($0.key) })
        entries = entries.compactMap { entry in
            let value = changes[entry.key] ?? entry.value
            return value.isEmpty ? nil : (entry.key, value)
        }
        entries += changes.sets.filter { !known.contains(MemberName($0.key)) }
    }

    /// Adds the properties of an anonymous record, as a merge does (§6.2). Existing keys keep their values. Keys that
    /// the server writes are always added. `asa_` keys are added in ascending order up to `maximumMergedCount`, and
    /// other keys up to `maximumCount`.
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

    /// When the user dismissed all questionnaires (§12).
    package static let dismissedAt = "_questionnaires_dismissed_at"
    /// The network that brought the user (§7).
    package static let attributionSource = "attribution_source"

    /// How a merge treats a key.
    private enum Kind {
        case serverWritten
        /// Another key that begins with `asa_`.
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

    /// The properties as answers and the table have them.
    package var object: JSONObject { JSONObject(entries.map { ($0.key, .string($0.value)) }) }
    var stored: String { String(decoding: JSONValue.object(object).json(), as: UTF8.self) }
}

/// The properties that one request sets and deletes, in one step. It is made before anything is locked.
package struct PropertyChanges: Sendable {
    /// In the order of the request.
    let sets: [Properties.Entry]
    /// The value of each named key; empty if the key is to be deleted.
    private let values: [MemberName: String]

    /// - Parameter entries: each key once. An empty value deletes the key.
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
