import MariaDB

extension ComposedSQL {
    /// The first rows of a list as a derived table `page` of `id` and `sort_value`.
    ///
    /// Each branch walks an index that has the list's order already, only as far as the page goes; what is sorted is no
    /// more than a page of each.
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

    /// For the columns `sort_value` and `id`.
    mutating func appendOrder(_ order: ListOrder) {
        switch order {
        case .ascending: append(" ORDER BY sort_value, id")
        case .descending: append(" ORDER BY sort_value DESC, id DESC")
        }
    }

    /// `column IN (?, …)` for keys of a page. Their number is rounded up to a power of two by repeating the last, so that
    /// pages of all lengths share a few prepared statements.
    mutating func append(_ sql: StaticString, oneOfFew values: [any Bindable]) {
        guard let last = values.last else { return append(sql, oneOf: values) }
        var count = 1
        while count < values.count { count *= 2 }
        append(sql, oneOf: values + repeatElement(last, count: count - values.count))
    }
}
