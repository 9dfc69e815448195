import MariaDB

extension ComposedSQL {
    /// The ids of a page's rows as a derived table `page` of `id` and `sort_value`.
    ///
    /// Each branch walks an index that has the list's order already, only as far as the page goes; what is sorted is no
    /// more than a page of each.
    ///
    /// - Parameter branches: at least one SELECT of `id` and `sort_value` with ORDER BY and LIMIT.
    static func page(_ branches: [ComposedSQL], _ order: ListOrder, _ limit: PageLimit) -> ComposedSQL {
        var sql = ComposedSQL("(")
        for (index, branch) in branches.enumerated() {
            sql.append(index == 0 ? "(" : " UNION ALL (")
            sql.append(branch)
            sql.append(")")
        }
        if branches.count > 1 { sql.appendEnd(order, limit) }
        sql.append(") page")
        return sql
    }

    /// For the columns `sort_value` and `id`.
    mutating func appendEnd(_ order: ListOrder, _ limit: PageLimit) {
        switch order {
        case .ascending: append(" ORDER BY sort_value, id LIMIT ?", limit.oneMore)
        case .descending: append(" ORDER BY sort_value DESC, id DESC LIMIT ?", limit.oneMore)
        }
    }

    /// What the branches of a page are read for: one value each, or all together when that would be too many branches.
    static func branches<Value>(for values: [Value]) -> [[Value]] {
        values.count > 64 ? [values] : values.map { [$0] }
    }
}
