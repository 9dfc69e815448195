import MariaDB

extension ComposedSQL {
    /// The first rows of a list as a derived table `page` of `id` and `sort_value`.
    ///
    /// Each branch reads an index that already has the list's order, and no further than one page. So only one page of
    /// each branch is sorted.
    ///
    /// - Parameter branches: at least one SELECT of `id` and `sort_value` with ORDER BY and LIMIT.
    static func page(_ branches: [ComposedSQL], _ order: ListOrder, _ limit: Int) -> ComposedSQL {
        var sql = ComposedSQL("(")
        for (index, branch) in branches.enumerated() {
            sql.append(index == 0 ? "(" : " UNION ALL (")
            sql.append(branch)
            sql.append(")")
        }
        if branches.count > 1 {
            sql.appendOrder(order)
            sql.append(" LIMIT ?", limit)
        }
        sql.append(") page")
        return sql
    }

    /// Sorts by the columns `sort_value` and `id`.
    mutating func appendOrder(_ order: ListOrder) {
        switch order {
        case .ascending: append(" ORDER BY sort_value, id")
        case .descending: append(" ORDER BY sort_value DESC, id DESC")
        }
    }

    /// `column IN (?, …)` for the keys of a page. The last key is repeated until their number is a power of two, so
    /// that pages of all lengths share a few prepared statements.
    mutating func append(_ sql: StaticString, oneOfFew values: [any Bindable]) {
        guard let last = values.last else { return append(sql, oneOf: values) }
        var count = 1
        while count < values.count { count *= 2 }
        append(sql, oneOf: values + repeatElement(last, count: count - values.count))
    }
}
