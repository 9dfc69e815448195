/// One page of a list, and the cursor of the next.
package struct Page<Row: Sendable>: Sendable {
    package var rows: [Row]
    /// Nil on the last page.
    package var cursor: String?

    package var hasMore: Bool { cursor != nil }

    /// The only page of an empty list.
    package init() { rows = [] }

    /// - Parameters:
    ///   - rows: one more than `limit` when there are more pages.
    ///   - cursor: names the last row of the page.
    package init<ID>(_ rows: [Row], limit: PageLimit, cursor: (Row) -> Cursor<ID>) {
        self.rows = Array(rows.prefix(limit.rawValue))
        self.cursor = rows.count > limit.rawValue ? self.rows.last.map { cursor($0).description } : nil
    }
}
