import MariaDB
import Text

/// The string by which an SDK names an end user (analytics §1). Compared byte for byte.
package struct EndUserID: RawRepresentable, Sendable, CustomStringConvertible, Bindable, Readable {
    /// The prefix of the ids of users who have not signed in.
    package static let anonymousPrefix = "owl_anon_"
    /// In UTF-16 code units.
    package static let maximumLength = 255

    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package var isAnonymous: Bool { rawValue.utf8.starts(with: Self.anonymousPrefix.utf8) }
    package var description: String { rawValue }
}

extension EndUserID {
    /// The check that every request makes of the ids it names (analytics §2.4).
    package func check(field: String) throws(Refusal) {
        if rawValue.isLonger(than: Self.maximumLength) {
            throw .invalid("\(field) exceeds max length of \(Self.maximumLength)")
        }
        try rawValue.checkForNUL(field: field)
    }

    /// The user that a `user_id` names; nil if the text is absent or empty.
    package init?(named text: String?) throws(Refusal) {
        guard let text, !text.isEmpty else { return nil }
        self.init(rawValue: text)
        try check(field: "user_id")
    }
}

extension EndUserID: Hashable, Comparable {
    package static func == (left: Self, right: Self) -> Bool { left.rawValue.hasSameBytes(as: right.rawValue) }

    package static func < (left: Self, right: Self) -> Bool {
        left.rawValue.utf8.lexicographicallyPrecedes(right.rawValue.utf8)
    }

    /// Hashes the bytes, eight at a time. `String` gives canonically equivalent texts the same hash, so a client could
    /// send any number of ids that collide.
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
