import MariaDB

/// How a list is read, so that every page costs the same (analytics §13).
///
/// A list merges several *sources*, such as the apps of a project, with production and development rows apart. An index
/// has the rows of each source by sort value and id, and a page reads no more index entries of it than it shows rows. A
/// *condition* that no index serves is checked row by row. The page then ends at the latest after `rowsLookedAt` rows,
/// even if it is empty.
struct ListWalk<ID: Bindable & Readable & Comparable & LosslessStringConvertible & Sendable> {
    typealias Position = Cursor<ID>

    var order = ListOrder.descending
    /// The columns of the sort value and of the id.
    var time: StaticString
    var id: StaticString
    /// `FROM t FORCE INDEX (i) WHERE …`: selects the rows of each source, through an index that has their order.
    var sources: [ComposedSQL]
    /// ` AND …`; nil if all rows of the sources belong to the list.
    var condition: ComposedSQL?
    /// Whether the sources have so few rows that a page may check all of them.
    var isShort = false
    /// The SQL before and after the derived table `page`, which adds the size of each row in bytes.
    var size: (before: StaticString, after: StaticString)

    /// How many rows a page checks against a condition, in all sources together.
    static var rowsLookedAt: Int { 10_000 }
    /// How many rows it checks in each source at least, even if there are very many sources. So every page advances.
    private static var leastRowsLookedAt: Int { 100 }
    /// The server takes a tenth of a millisecond to prepare each source.
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

    /// The position at which the page ends. Each source has a last row that may be checked; this is the first of these.
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

    /// The server derives a range over the whole key from this form of the conditions. It derives no range from a row
    /// constructor, and from `a <= ? AND (a < ? OR b < ?)` only a range over `a`.
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
    /// The keys of the page after a position.
    func page<ID>(of walk: ListWalk<ID>, after start: Cursor<ID>?, _ limit: PageLimit) throws -> PageKeys<ID> {
        let bound = walk.condition == nil || walk.isShort ? nil : try self.bound(of: walk, after: start)
        var found: [PageKeys<ID>.Key] = []
        for group in walk.groups {
            // If the page is full, rows after its last one are not needed.
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

    /// Nil if no source has more rows than may be checked.
    private func bound<ID>(of walk: ListWalk<ID>, after start: Cursor<ID>?) throws -> Cursor<ID>? {
        try walk.groups.reduce(nil) { nearest, group in
            try first(walk.bound(of: group, after: start, through: nearest)) { row in
                let id: ID = try row.read()
                return Cursor(time: try row.read(), id: id)
            } ?? nearest
        }
    }
}
