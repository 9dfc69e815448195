import MariaDB
import Time

/// A record: one end user of a project.
package struct Record: Sendable {
    /// The surrogate key, by which every row names this user.
    package struct ID: RawRepresentable, Hashable, Comparable, Sendable, Bindable, Readable {
        package let rawValue: Int64

        package init(rawValue: Int64) { self.rawValue = rawValue }

        package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    package let id: ID
    package let userID: EndUserID
    package let isAnonymous: Bool
    /// If set, this record is a tombstone.
    package let mergedInto: ID?
    /// A JSON object of strings; nil if there are none.
    let properties: String?
    let firstSeenAt: Timestamp
    /// Whether this transaction created it.
    package internal(set) var isNew: Bool
    /// Of a record that was locked for events; nil of any other, and of one that this transaction created.
    var sighting: Sighting?
}

/// The values of a new record, except its name and its time.
package struct NewRecord: Sendable {
    package var isDev: Bool

    package init(isDev: Bool = false) { self.isDev = isDev }
}
