/// One page of a list, and the cursor of the next.
package struct Page<Row: Sendable>: Sendable {
    package var rows: [Row]
    /// Nil on the last page.
    package var cursor: String?

    package var hasMore: Bool { cursor != nil }

    /// - Parameters:
    ///   - rows: one more than `limit` when there are more pages.
    ///   - cursor: names the last row of the page.
    package init<ID>(_ rows: [Row], limit: PageLimit, cursor: (Row) -> Cursor<ID>) {
        self.rows = Array(rows.prefix(limit.rawValue))
        self.cursor = rows.count > limit.rawValue ? self.rows.last.map { cursor($0).description } : nil
    }
}

/// How many rows a page has at most: 1 to 200 (analytics §13).
package struct PageLimit: Sendable {
    package let rawValue: Int

    /// - Parameter text: as the query string has it; what is no integer counts as 50.
    package init(_ text: String?) {
        guard let text, let number = Self.integer(text) else {
            rawValue = 50
            return
        }
        rawValue = min(max(number, 1), 200)
    }

    /// What shows whether there is another page.
    package var oneMore: Int { rawValue + 1 }

    /// Any number of decimal digits, with or without a sign; beyond Int it is the nearest one.
    private static func integer(_ text: String) -> Int? {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.dropFirst() : text[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int(text) ?? (digits.count < text.count ? .min : .max)
    }
}
