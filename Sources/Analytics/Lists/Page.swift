import Time

/// One page of a list, and the cursor of the next.
package struct Page<Row: Sendable>: Sendable {
    package var rows: [Row]
    /// Nil on the last page only. Any other page may be short or even empty.
    package var cursor: String?

    package var hasMore: Bool { cursor != nil }

    /// The only page of an empty list.
    package init() { rows = [] }

    /// - Parameter rows: the rows of the keys, in any order.
    init<ID: Comparable>(_ keys: PageKeys<ID>, _ order: ListOrder, _ rows: [Row], position: (Row) -> Cursor<ID>) {
        self.rows = rows.sorted { order.areInOrder(position($0), position($1)) }
        cursor = keys.next?.description
    }
}

/// The rows that a page shows, and where the next page begins.
package struct PageKeys<ID: LosslessStringConvertible & Sendable>: Sendable {
    /// A row that was found, and how many bytes of memory it takes.
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

    /// The most bytes that the rows of a page may take together. A larger row is a page by itself.
    package static var byteBudget: Int { 4 << 20 }

    /// - Parameters:
    ///   - found: in the list's order; one more than `limit` if there is another page.
    ///   - bound: the last row that was checked; nil if the list ends there.
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

    /// The range of the sort values; nil if the page is empty.
    var times: ClosedRange<Timestamp>? {
        let times = positions.map(\.time)
        guard let least = times.min(), let greatest = times.max() else { return nil }
        return least...greatest
    }
}

/// The most rows on a page: 1 to 200 (analytics §13).
package struct PageLimit: Sendable {
    package let rawValue: Int

    /// - Parameter text: the text of the request. 50 if it is not an integer.
    package init(_ text: String?) {
        guard let text, let number = Self.integer(text) else {
            rawValue = 50
            return
        }
        rawValue = min(max(number, 1), 200)
    }

    /// One row more than the page shows: if it exists, there is another page.
    package var oneMore: Int { rawValue + 1 }

    /// Decimal digits with an optional minus sign. A number beyond the range of Int becomes the nearest Int.
    private static func integer(_ text: String) -> Int? {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.dropFirst() : text[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int(text) ?? (digits.count < text.count ? .min : .max)
    }
}
