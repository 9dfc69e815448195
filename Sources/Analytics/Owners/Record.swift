import MariaDB

/// A record: one end user of a project.
package struct Record: Sendable {
    /// The surrogate key that every row about this user has.
    package struct ID: RawRepresentable, Hashable, Comparable, Sendable, Bindable, Readable {
        package let rawValue: Int64

        package init(rawValue: Int64) { self.rawValue = rawValue }

        package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    package let id: ID
    package let userID: EndUserID
    package let isAnonymous: Bool
    /// Set: a tombstone.
    package let mergedInto: ID?
    /// A JSON object of strings; nil when there are none.
    let properties: String?
    /// Whether this transaction made it.
    package internal(set) var isNew: Bool
}

/// What a record made by a request starts with, beside its name and the time.
package struct NewRecord: Sendable {
    package var isDev: Bool

    package init(isDev: Bool = false) { self.isDev = isDev }
}
