package import MariaDB
package import Time

/// A merge or swap in a list: whom it absorbed, who survived, what proved that it was one person (accounts §3.2), and
/// whether it was or can be taken back (accounts Stage 6).
package struct ListedMerge: Sendable {
    package var id: MergeID
    /// Of a link, whoever survived last.
    package var survivor: User.ID
    /// A swap deleted the account.
    package var absorbed: User.ID
    /// A `MergeMethod`, `anonymous_swap`, or what an imported row has.
    package var mergedVia: String
    package var createdAt: Timestamp
    /// Nil: there is no journal.
    package var undoUntil: Timestamp?
    package var undoneAt: Timestamp?
}

extension ListedMerge {
    package enum UndoState: Sendable {
        case undone(at: Timestamp)
        /// As far as time is concerned.
        case possible(until: Timestamp)
        case impossible
    }

    package func undoState(at now: Timestamp) -> UndoState {
        if let undoneAt { return .undone(at: undoneAt) }
        guard let undoUntil, now < undoUntil else { return .impossible }
        return .possible(until: undoUntil)
    }
}

extension MergeID: Encodable {
    /// - Throws: `invalidCursor`.
    package init(cursor: String) throws(Failure) {
        guard let id = MergeID(text: cursor) else { throw .invalidCursor }
        self = id
    }

    /// A merge's is a number, as it was before there were swaps.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .merge(let link): try container.encode(link)
        case .swap: try container.encode(text)
        }
    }
}

extension Connection {
    /// Merges and swaps, by time; of one time, swaps are older than merges. The links stay flat: one that led to a user who
    /// was absorbed later leads to the survivor. Swaps and merges that were undone have no link, and end with their journals.
    ///
    /// Links and journals are read in the order of the list and no further than a page. A merge that has both is one row.
    ///
    /// - Parameters:
    ///   - user: only those that this user survived or was absorbed by; nil: all.
    ///   - last: the last merge of the page before.
    /// - Throws: `invalidCursor` if that one is gone.
    package func merges(
        of user: User.ID?, after last: MergeID?, _ order: ListOrder = .newest, limit: Int
    ) throws -> ListPage<ListedMerge> {
        let cursor = try last.map { id in
            guard let place = try merge(id).map(MergePlace.init) else { throw Failure.invalidCursor }
            return place
        }
        var sql = ComposedSQL("SELECT * FROM (")
        for (index, branch) in branches(of: user, after: cursor, order, limit: limit + 1).enumerated() {
            sql.append(index == 0 ? "(" : " UNION (")
            sql.append(branch)
            sql.append(")")
        }
        switch order {
        case .newest: sql.append(") found ORDER BY created_at DESC, COALESCE(link_id, 0) DESC, journal_id DESC")
        case .oldest: sql.append(") found ORDER BY created_at, COALESCE(link_id, 0), journal_id")
        }
        sql.append(" LIMIT ?", limit + 1)
        let found = try all(sql) { row in try ListedMerge(from: &row) }
        return ListPage(found, limit: limit) { $0.id.text }
    }

    private func branches(
        of user: User.ID?, after last: MergePlace?, _ order: ListOrder, limit: Int
    ) -> [ComposedSQL] {
        func links(_ rows: ComposedSQL) -> ComposedSQL {
            var sql = ComposedSQL(select: ListedMerge.linkColumns, from: "(SELECT * FROM identity_links ")
            sql.append(rows)
            switch order {
            case .newest:
                if let last {
                    sql.append(
                        " AND (created_at < ? OR created_at = ? AND id < ?)", last.time, last.time, last.link)
                }
                sql.append(" ORDER BY created_at DESC, id DESC LIMIT ?", limit)
            case .oldest:
                if let last {
                    sql.append(
                        " AND (created_at > ? OR created_at = ? AND id > ?)", last.time, last.time, last.link)
                }
                sql.append(" ORDER BY created_at, id LIMIT ?", limit)
            }
            sql.append(") l LEFT JOIN merge_journals j ON j.identity_link_id = l.id")
            return sql
        }
        func journals(_ rows: ComposedSQL) -> ComposedSQL {
            var sql = ComposedSQL(select: ListedMerge.journalColumns, from: "(SELECT * FROM merge_journals ")
            sql.append(rows)
            // Sorted by its link, NULL is before all numbers.
            switch order {
            case .newest:
                if let last {
                    sql.append(
                        """
                         AND (created_at < ? OR created_at = ?
                              AND (identity_link_id < ? OR identity_link_id IS NULL AND id < ?))
                        """, last.time, last.time, last.link, last.journal)
                }
                sql.append(" ORDER BY created_at DESC, identity_link_id DESC, id DESC LIMIT ?", limit)
            case .oldest:
                if let last {
                    sql.append(
                        """
                         AND (created_at > ? OR created_at = ?
                              AND (identity_link_id > ? OR identity_link_id IS NULL AND id > ?))
                        """, last.time, last.time, last.link, last.journal)
                }
                sql.append(" ORDER BY created_at, identity_link_id, id LIMIT ?", limit)
            }
            sql.append(") j LEFT JOIN identity_links l ON l.id = j.identity_link_id")
            return sql
        }
        guard let user else {
            return [
                links(ComposedSQL("FORCE INDEX (identity_links_created) WHERE TRUE")),
                journals(ComposedSQL("FORCE INDEX (merge_journals_created) WHERE TRUE")),
            ]
        }
        return [
            links(ComposedSQL("FORCE INDEX (identity_links_survivor) WHERE primary_user_id = ?", user)),
            links(ComposedSQL("WHERE linked_user_id = ?", user)),
            journals(ComposedSQL("FORCE INDEX (merge_journals_survivor) WHERE survivor_user_id = ?", user)),
            journals(ComposedSQL("FORCE INDEX (merge_journals_absorbed) WHERE absorbed_user_id = ?", user)),
        ]
    }

    package func merge(_ id: MergeID) throws -> ListedMerge? {
        switch id {
        case .merge(let link):
            if let merge = try linkedMerge(ComposedSQL("WHERE l.id = ?", link)) { return merge }
            return try journaledMerge(ComposedSQL("WHERE j.identity_link_id = ?", link))
        case .swap(let journal):
            return try journaledMerge(ComposedSQL("WHERE j.id = ? AND j.identity_link_id IS NULL", journal))
        }
    }

    /// The merge that absorbed a user; nil if none did, or it was undone.
    func merge(ofAbsorbed user: User.ID) throws -> ListedMerge? {
        try linkedMerge(ComposedSQL("WHERE l.linked_user_id = ?", user))
    }

    private func linkedMerge(_ rows: ComposedSQL) throws -> ListedMerge? {
        var sql = ComposedSQL(
            select: ListedMerge.linkColumns,
            from: "identity_links l LEFT JOIN merge_journals j ON j.identity_link_id = l.id ")
        sql.append(rows)
        return try first(sql) { row in try ListedMerge(from: &row) }
    }

    private func journaledMerge(_ rows: ComposedSQL) throws -> ListedMerge? {
        var sql = ComposedSQL(
            select: ListedMerge.journalColumns,
            from: "merge_journals j LEFT JOIN identity_links l ON l.id = j.identity_link_id ")
        sql.append(rows)
        return try first(sql) { row in try ListedMerge(from: &row) }
    }

    /// The newest merges that a user survived and that stand.
    func standingMerges(into user: User.ID, limit: Int) throws -> [ListedMerge] {
        let sql = ComposedSQL(
            select: ListedMerge.linkColumns,
            from: """
                (SELECT * FROM identity_links FORCE INDEX (identity_links_primary) WHERE primary_user_id = ?
                 ORDER BY id DESC LIMIT ?) l LEFT JOIN merge_journals j ON j.identity_link_id = l.id ORDER BY l.id DESC
                """, user, limit)
        return try all(sql) { row in try ListedMerge(from: &row) }
    }
}

extension Connection {
    /// A merge with both accounts as they are now; nil for one that is gone, such as that which a swap absorbed. Call it in
    /// a `snapshot`.
    package func mergeWithUsers(
        _ id: MergeID
    ) throws -> (merge: ListedMerge, survivor: ListedUser?, absorbed: ListedUser?)? {
        guard let merge = try merge(id) else { return nil }
        let users = try users(merge.survivor, merge.absorbed)
        // Another merge may have absorbed an account that this one no longer does.
        func listed(_ id: User.ID) throws -> ListedUser? {
            guard let user = users[id] else { return nil }
            return ListedUser(user: user, mergedInto: try self.merge(ofAbsorbed: id)?.survivor)
        }
        return (merge, try listed(merge.survivor), try listed(merge.absorbed))
    }
}

/// Where a merge stands in the list.
private struct MergePlace {
    let time: Timestamp
    /// 0: a swap, which is before all links.
    let link: Int64
    /// After all swaps, if it is a merge.
    let journal: Int64

    init(_ merge: ListedMerge) {
        time = merge.createdAt
        switch merge.id {
        case .merge(let id): (link, journal) = (id.rawValue, .max)
        case .swap(let id): (link, journal) = (0, id.rawValue)
        }
    }
}

extension ListedMerge {
    /// Of links `l`, which may have journals `j`.
    fileprivate static let linkColumns: StaticString = """
        l.id AS link_id, j.id AS journal_id, l.primary_user_id, l.linked_user_id, l.merged_via, l.created_at, j.expires_at,
        j.undone_at
        """
    /// Of journals `j`, which may have links `l`.
    fileprivate static let journalColumns: StaticString = """
        j.identity_link_id AS link_id, j.id AS journal_id, COALESCE(l.primary_user_id, j.survivor_user_id),
        j.absorbed_user_id, j.merged_via, j.created_at, j.expires_at, j.undone_at
        """

    fileprivate init(from row: inout Row) throws {
        let (link, journal): (IdentityLink.ID?, MergeJournal.ID?) = (try row.read(), try row.read())
        // One of them is there.
        id = link.map(MergeID.merge) ?? .swap(journal ?? MergeJournal.ID(rawValue: 0))
        survivor = try row.read()
        absorbed = try row.read()
        mergedVia = try row.read()
        createdAt = try row.read()
        undoUntil = try row.read()
        undoneAt = try row.read()
    }
}
