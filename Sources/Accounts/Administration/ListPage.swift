import MariaDB
import Time

/// One page of a list that is read by its key: however far down the list a page is, it costs the same.
package struct ListPage<Row: Sendable>: Sendable {
    package let rows: [Row]
    /// What the next page begins after; nil on the last page.
    package let next: String?

    /// - Parameters:
    ///   - found: one row more than the page has, if there is one.
    ///   - end: where reading ended, if there may be more although the page is not full.
    ///   - cursor: names a row.
    init(_ found: [Row], limit: Int, end: String? = nil, cursor: (Row) -> String) {
        rows = Array(found.prefix(limit))
        next = found.count > limit ? rows.last.map(cursor) : end
    }
}

/// With which of its rows a list begins.
package enum ListOrder: String, Sendable, CaseIterable {
    case newest, oldest
}

extension ComposedSQL {
    /// Completes a condition with the rows of one page, which are sorted by their id.
    ///
    /// - Parameter last: the last row of the page before; nil for the first page.
    mutating func append<Row>(pageAfter last: Identifier<Row>?, _ order: ListOrder, limit: Int) {
        switch order {
        case .newest: append(" AND id < ? ORDER BY id DESC LIMIT ?", last ?? .last, limit)
        case .oldest: append(" AND id > ? ORDER BY id LIMIT ?", last ?? .zero, limit)
        }
    }
}

extension Identifier {
    /// The id that a cursor names. Only one text stands for an id.
    ///
    /// - Throws: `invalidCursor`.
    package init(cursor: String) throws(Failure) {
        guard let number = Int64(cursor), number >= 0, String(number).utf8.elementsEqual(cursor.utf8) else {
            throw .invalidCursor
        }
        self.init(rawValue: number)
    }

    /// After every id.
    static var last: Self { Self(rawValue: .max) }
    /// Before every id.
    static var zero: Self { Self(rawValue: 0) }
}

/// Where a page of a list ended that is sorted by time.
package struct TimeCursor: Sendable, Equatable {
    let time: Timestamp
    let row: Int64

    /// - Throws: `invalidCursor`.
    package init(_ text: String) throws(Failure) {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
            .map { Int64(String(Substring($0))) }
        guard parts.count == 2, let milliseconds = parts[0], Self.storable.contains(milliseconds), let row = parts[1],
            row >= 0
        else { throw .invalidCursor }
        (time, self.row) = (Timestamp(milliseconds: milliseconds), row)
    }

    init(time: Timestamp, row: Int64) { (self.time, self.row) = (time, row) }

    var text: String { "\(time.milliseconds)-\(row)" }

    /// What DATETIME(3) takes, of the times that rows have: to the end of the year 9999.
    private static let storable = Int64(0)...253_402_300_799_999
}
