package import MariaDB
package import Time

/// A merge in a list: whom it absorbed, who survived, and what proved that it was one person (accounts §3.2).
package struct ListedMerge: Sendable {
    package var id: IdentityLink.ID
    package var primary: User.ID
    package var linked: User.ID
    /// A `MergeMethod`, or what an imported row has.
    package var mergedVia: String
    package var createdAt: Timestamp
}

extension Connection {
    /// Merges. The links stay flat: one that led to a user who was absorbed later leads to the survivor.
    ///
    /// - Parameters:
    ///   - user: only those that this user survived or was absorbed by; nil: all.
    ///   - last: the last merge of the page before.
    package func merges(
        of user: User.ID?, after last: IdentityLink.ID?, _ order: ListOrder = .newest, limit: Int
    ) throws -> ListPage<ListedMerge> {
        var sql: ComposedSQL
        if let user {
            sql = ComposedSQL("SELECT * FROM ((")
            sql.append(
                ComposedSQL(select: ListedMerge.columns, from: "identity_links WHERE primary_user_id = ?", user))
            sql.append(pageAfter: last, order, limit: limit + 1)
            sql.append(") UNION (")
            sql.append(ComposedSQL(select: ListedMerge.columns, from: "identity_links WHERE linked_user_id = ?", user))
            sql.append(pageAfter: last, order, limit: limit + 1)
            sql.append(")) found WHERE TRUE")
        } else {
            sql = ComposedSQL(select: ListedMerge.columns, from: "identity_links WHERE TRUE")
        }
        sql.append(pageAfter: last, order, limit: limit + 1)
        let found = try all(sql) { row in try ListedMerge(from: &row) }
        return ListPage(found, limit: limit) { String($0.id.rawValue) }
    }

    package func merge(_ id: IdentityLink.ID) throws -> ListedMerge? {
        try first(ComposedSQL(select: ListedMerge.columns, from: "identity_links WHERE id = ?", id)) { row in
            try ListedMerge(from: &row)
        }
    }

    /// The merge that absorbed a user; nil if none did.
    func merge(ofAbsorbed user: User.ID) throws -> ListedMerge? {
        try first(
            ComposedSQL(select: ListedMerge.columns, from: "identity_links WHERE linked_user_id = ?", user)
        ) { row in try ListedMerge(from: &row) }
    }
}

extension Connection {
    /// A merge with both accounts as they are now. Call it in a `snapshot`.
    package func mergeWithUsers(
        _ id: IdentityLink.ID
    ) throws -> (merge: ListedMerge, primary: ListedUser?, linked: ListedUser?)? {
        guard let merge = try merge(id) else { return nil }
        let users = try users(merge.primary, merge.linked)
        return (
            merge, users[merge.primary].map { ListedUser(user: $0) },
            users[merge.linked].map { ListedUser(user: $0, mergedInto: merge.primary) }
        )
    }
}

extension ListedMerge {
    fileprivate static let columns: StaticString = "id, primary_user_id, linked_user_id, merged_via, created_at"

    fileprivate init(from row: inout Row) throws(MariaDBError) {
        id = try row.read()
        primary = try row.read()
        linked = try row.read()
        mergedVia = try row.read()
        createdAt = try row.read()
    }
}
