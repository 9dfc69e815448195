import Text
package import Time

/// Where a page of a list ended: the sort value and the id of its last row. Clients return it unchanged to get the next
/// page (analytics §13).
package struct Cursor<ID: LosslessStringConvertible & Sendable>: Sendable {
    package let time: Timestamp
    package let id: ID

    package init(time: Timestamp, id: ID) {
        self.time = time
        self.id = id
    }

    /// Nil if the text is not a cursor. Lists then start from the beginning.
    package init?(_ text: String) {
        guard let bytes = Base64URL.decode(text), let plain = String(validating: bytes, as: Unicode.ASCII.self) else {
            return nil
        }
        let parts = plain.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 2, let milliseconds = Int64(parts[0]), let id = ID(String(parts[1])) else { return nil }
        let time = Timestamp(milliseconds: milliseconds)
        guard Timestamp.storable.contains(time) else { return nil }
        self.init(time: time, id: id)
    }
}

extension Cursor: Equatable where ID: Equatable {}

extension Cursor: Comparable where ID: Comparable {
    package static func < (left: Self, right: Self) -> Bool { (left.time, left.id) < (right.time, right.id) }
}

extension Cursor: CustomStringConvertible {
    package var description: String { Base64URL.encode(Array("\(time.milliseconds) \(id)".utf8)) }
}

/// The direction in which a list is sorted by its sort value. Rows with the same sort value are sorted by id in the
/// same direction.
package enum ListOrder: String, Sendable, CaseIterable {
    case ascending = "asc"
    case descending = "desc"

    func areInOrder<ID: Comparable>(_ left: Cursor<ID>, _ right: Cursor<ID>) -> Bool {
        self == .ascending ? left < right : right < left
    }
}
