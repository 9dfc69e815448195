import Time

/// Which rows a page shows, and where the next one begins.
package struct PageKeys<ID: LosslessStringConvertible & Sendable>: Sendable {
    /// A row that was found, and how many bytes it takes to hold.
    package struct Key: Sendable {
        package var position: Cursor<ID>
        package var bytes: Int

        package init(position: Cursor<ID>, bytes: Int) {
            self.position = position
            self.bytes = bytes
        }
    }

    package private(set) var positions: [Cursor<ID>]
    /// Nil on the last page.
    package private(set) var next: Cursor<ID>?

    /// What the rows of a page may take together; one that takes more is a page by itself.
    package static var byteBudget: Int { 4 << 20 }

    /// - Parameters:
    ///   - found: in the list's order, one more than `limit` when there are more.
    ///   - bound: the last row that was looked at; nil when it was the last of the list.
    package init(_ found: [Key], _ limit: PageLimit, bound: Cursor<ID>? = nil) {
        var bytes = 0
        let shown = found.prefix(limit.rawValue).enumerated().prefix { index, key in
            bytes += key.bytes
            return index == 0 || bytes <= Self.byteBudget
        }
        positions = shown.map(\.element.position)
        next = shown.count < found.count ? positions.last : bound
    }

    var ids: [ID] { positions.map(\.id) }

    /// From the earliest to the latest sort value, where there is one.
    var times: ClosedRange<Timestamp>? {
        let times = positions.map(\.time)
        guard let least = times.min(), let greatest = times.max() else { return nil }
        return least...greatest
    }
}
