import MariaDB
import Time

/// How a list is read, so that a page costs the same wherever it is (analytics §13).
///
/// A list is the merge of its *sources*, such as the apps of a project, production and development apart. An index has the
/// rows of each by sort value and id, and a page reads as many entries of it as it shows rows. A *condition* that no index
/// serves is put to one row after the other: then a page ends with the last of `rowsLookedAt` rows, whatever it found.
struct ListWalk<ID: Bindable & Readable & Comparable & LosslessStringConvertible & Sendable> {
    typealias Position = Cursor<ID>

    var order = ListOrder.descending
    /// The columns of the sort value and of the id.
    var time: StaticString
    var id: StaticString
    /// `FROM t FORCE INDEX (i) WHERE …`: what leads to each source's rows, and nothing else.
    var sources: [ComposedSQL]
    /// ` AND …`; nil: every row of a source is one of the list.
    var condition: ComposedSQL?
    /// Whether the sources have so few rows that a page may look at all of them.
    var isShort = false
    /// What stands before and after the derived table `page` of `id` and `sort_value` to add how many bytes a row takes.
    var size: (before: StaticString, after: StaticString)

    /// How many rows a page looks at for a condition, in all sources together.
    static var rowsLookedAt: Int { 10_000 }
    /// How many it may look at in each when there are very many, so that it always gets on.
    private static var leastRowsLookedAt: Int { 100 }
    /// Each costs the server a tenth of a millisecond to prepare.
    private static var sourcesPerStatement: Int { 64 }

    fileprivate var groups: [ArraySlice<ComposedSQL>] {
        stride(from: 0, to: sources.count, by: Self.sourcesPerStatement).map {
            sources[$0..<min($0 + Self.sourcesPerStatement, sources.count)]
        }
    }

    fileprivate var rowsLookedAtInEach: Int {
        max(Self.rowsLookedAt / max(sources.count, 1), Self.leastRowsLookedAt)
    }

    /// The first rows between two positions that meet the condition.
    fileprivate func rows(
        of group: ArraySlice<ComposedSQL>, after start: Position?, through end: Position?, limit: Int
    ) -> ComposedSQL {
        let branches = group.map { source in
            var sql = select(source, after: start, through: end)
            if let condition { sql.append(condition) }
            sql.appendOrder(order)
            sql.append(" LIMIT ?", limit)
            return sql
        }
        var sql = ComposedSQL(size.before)
        sql.append(" ")
        sql.append(.page(branches, order, limit))
        sql.append(size.after)
        return sql
    }

    /// Of the rows at which each source would have been looked at enough, the first.
    fileprivate func bound(
        of group: ArraySlice<ComposedSQL>, after start: Position?, through end: Position?
    ) -> ComposedSQL {
        let branches = group.map { source in
            var sql = select(source, after: start, through: end)
            sql.appendOrder(order)
            sql.append(" LIMIT 1 OFFSET ?", rowsLookedAtInEach - 1)
            return sql
        }
        var sql = ComposedSQL("SELECT page.id, page.sort_value FROM ")
        sql.append(.page(branches, order, 1))
        return sql
    }

    /// The form of the conditions is what the server makes ranges of, with all parts of the key: of a row constructor it
    /// makes none, and of `a <= ? AND (a < ? OR b < ?)` one of `a` alone.
    private func select(_ source: ComposedSQL, after start: Position?, through end: Position?) -> ComposedSQL {
        var sql = ComposedSQL("SELECT ")
        sql.append(id)
        sql.append(" AS id, ")
        sql.append(time)
        sql.append(" AS sort_value ")
        sql.append(source)
        let (beyond, before): (StaticString, StaticString) =
            switch order {
            case .ascending: (" > ?", " < ?")
            case .descending: (" < ?", " > ?")
            }
        if let start { sql.append(time, id, beyond, beyond, start) }
        if let end { sql.append(time, id, before, order == .ascending ? " <= ?" : " >= ?", end) }
        return sql
    }
}

extension ComposedSQL {
    /// ` AND (time < ? OR time = ? AND id < ?)`, with the comparisons given.
    fileprivate mutating func append<ID: Bindable>(
        _ time: StaticString, _ id: StaticString, _ timeComparison: StaticString, _ idComparison: StaticString,
        _ position: Cursor<ID>
    ) {
        append(" AND (")
        append(time)
        append(timeComparison, position.time)
        append(" OR ")
        append(time)
        append(" = ? AND ", position.time)
        append(id)
        append(idComparison, position.id)
        append(")")
    }
}

extension Connection {
    /// Which rows the page after a position shows.
    func page<ID>(of walk: ListWalk<ID>, after start: Cursor<ID>?, _ limit: PageLimit) throws -> PageKeys<ID> {
        let bound = walk.condition == nil || walk.isShort ? nil : try self.bound(of: walk, after: start)
        var found: [PageKeys<ID>.Key] = []
        for group in walk.groups {
            // Behind the last row of a full page nothing is worth reading.
            let end = found.count < limit.oneMore ? bound : found.last?.position
            let rows = walk.rows(of: group, after: start, through: end, limit: limit.oneMore)
            found += try all(rows) { row in
                let id: ID = try row.read()
                return PageKeys.Key(position: Cursor(time: try row.read(), id: id), bytes: try row.read())
            }
            found.sort { walk.order.areInOrder($0.position, $1.position) }
            found.removeLast(max(0, found.count - limit.oneMore))
        }
        return PageKeys(found, limit, bound: bound)
    }

    /// Nil when no source has more rows than may be looked at.
    private func bound<ID>(of walk: ListWalk<ID>, after start: Cursor<ID>?) throws -> Cursor<ID>? {
        try walk.groups.reduce(nil) { nearest, group in
            try first(walk.bound(of: group, after: start, through: nearest)) { row in
                let id: ID = try row.read()
                return Cursor(time: try row.read(), id: id)
            } ?? nearest
        }
    }
}
