import MariaDB

/// The string by which an SDK names an end user, compared byte for byte (analytics §1).
package struct EndUserID: RawRepresentable, Sendable, CustomStringConvertible, Bindable, Readable {
    /// What the ids of people who have not signed in begin with.
    package static let anonymousPrefix = "owl_anon_"
    /// In UTF-16 code units.
    package static let maximumLength = 255

    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package var isAnonymous: Bool { rawValue.utf8.starts(with: Self.anonymousPrefix.utf8) }
    package var description: String { rawValue }
}

extension EndUserID {
    /// Checks what every request checks of the ids it names (analytics §2.4).
    package func check(field: String) throws(Refusal) {
        if rawValue.isLonger(than: Self.maximumLength) {
            throw .invalid("\(field) exceeds max length of \(Self.maximumLength)")
        }
        try rawValue.checkForNUL(field: field)
    }

    /// The user that a `user_id` names; nil when there is none, or an empty one.
    package init?(named text: String?) throws(Refusal) {
        guard let text, !text.isEmpty else { return nil }
        self.init(rawValue: text)
        try check(field: "user_id")
    }
}

extension EndUserID: Hashable, Comparable {
    package static func == (left: Self, right: Self) -> Bool { left.rawValue.utf8.elementsEqual(right.rawValue.utf8) }

    package static func < (left: Self, right: Self) -> Bool {
        left.rawValue.utf8.lexicographicallyPrecedes(right.rawValue.utf8)
    }

    /// The bytes, eight at a time. A `String` hashes its canonically equivalent spellings alike, and of an id of é's there
    /// are as many as anybody likes.
    package func hash(into hasher: inout Hasher) {
        let bytes = rawValue.utf8Span.span
        var word: UInt64 = 0
        for index in bytes.indices {
            word = word << 8 | UInt64(bytes[index])
            if index % 8 == 7 {
                hasher.combine(word)
                word = 0
            }
        }
        hasher.combine(word)
        hasher.combine(bytes.count)
    }
}
