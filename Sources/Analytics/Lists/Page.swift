/// One page of a list, and the cursor of the next.
package struct Page<Row: Sendable>: Sendable {
    package var rows: [Row]
    /// Nil on the last page. A page may be short, even empty, and not be the last: what counts is this.
    package var cursor: String?

    package var hasMore: Bool { cursor != nil }

    /// The only page of an empty list.
    package init() { rows = [] }

    /// - Parameter rows: those of the keys, in any order.
    init<ID: Comparable>(_ keys: PageKeys<ID>, _ order: ListOrder, _ rows: [Row], position: (Row) -> Cursor<ID>) {
        self.rows = rows.sorted { order.areInOrder(position($0), position($1)) }
        cursor = keys.next?.description
    }
}
