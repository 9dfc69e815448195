package import JSON
package import MariaDB
import Time

/// The records of an account, in the projects whose users are the accounts'.
package struct ExportedRecords: Sendable {
    /// Of the account and of those that it has absorbed.
    fileprivate let names: [EndUserID]
    fileprivate let projects: [Project.ID]
    /// Those with these names, and the tombstones that point at them.
    fileprivate let records: [Record.ID]
    /// The same in decimal digits, as claims list them.
    fileprivate let listed: Set<Substring>
}

/// An id that deleted rows of a project were frozen under.
private struct FrozenID: Hashable {
    let project: Project.ID
    let name: EndUserID
}

extension Connection {
    /// - Parameter names: of the account and of those that it has absorbed. Their records are no tombstones where the
    ///   project took no part when they were absorbed.
    package func exportedRecords(of names: [EndUserID]) throws -> ExportedRecords {
        let projects = try accountsProjects()
        var records: Set<Record.ID> = []
        for project in projects {
            for name in names {
                records.formUnion(
                    try all(
                        """
                        SELECT u.id FROM app_users u FORCE INDEX (app_users_project_user)
                        WHERE u.project_id = ? AND u.user_id = ?
                        UNION
                        SELECT t.id FROM app_users u FORCE INDEX (app_users_project_user)
                        STRAIGHT_JOIN app_users t FORCE INDEX (app_users_merged_into) ON t.merged_into = u.id
                        WHERE u.project_id = ? AND u.user_id = ?
                        """, project, name, project, name
                    ) { row in try row.read(Record.ID.self) })
            }
        }
        return ExportedRecords(
            names: names, projects: projects, records: records.sorted(),
            listed: Set(records.map { Substring("\($0.rawValue)") }))
    }

    /// Calls `body` for each row. Call it in the snapshot that the records were read in.
    ///
    /// - Parameter check: is called before the rows of a record, or of an id, are read; what it throws ends the export.
    package func forEachRow(
        of section: RecordSection, in exported: ExportedRecords, beforeEachKey check: () throws -> Void,
        _ body: (JSONValue) throws -> Void
    ) throws {
        for source in section.sources {
            try forEachKey(of: source, in: exported) { key in
                try check()
                try readRows(of: source, key, section.select, size: section.size) { row in
                    var members: [(String, JSONValue)] = []
                    for (name, column) in section.columns { members.append((name, try column.read(from: &row))) }
                    try body(.object(JSONObject(members)))
                }
            }
        }
    }

    private func forEachKey(
        of source: RecordSection.Source, in exported: ExportedRecords, _ body: (Arguments) throws -> Void
    ) throws {
        switch source.key {
        case .record:
            for record in exported.records { try body([record]) }
        case .recordInMode:
            for record in exported.records {
                for isDev in [false, true] { try body([record, isDev]) }
            }
        case .frozenID:
            for project in exported.projects {
                for name in exported.names { try body([project, name]) }
            }
            var seen: Set<FrozenID> = []
            for record in exported.records {
                try forEachFrozenID(of: record, in: exported) { id in
                    if seen.insert(id).inserted { try body([id.project, id.name]) }
                }
            }
        }
    }

    /// The ids, other than the account's own, that deleted rows of a record were frozen under: that of a swapped
    /// account, and the anonymous ids that it has claimed, but not those that somebody else has claimed, too. Whoever
    /// can name an id can claim it, so nobody knows whose the rows were.
    private func forEachFrozenID(
        of record: Record.ID, in exported: ExportedRecords, _ body: (FrozenID) throws -> Void
    ) throws {
        let absorbed = try first(
            "SELECT project_id, user_id FROM app_users WHERE id = ? AND NOT is_anonymous", record
        ) { row in FrozenID(project: try row.read(), name: try row.read()) }
        if let absorbed, !exported.names.contains(absorbed.name) { try body(absorbed) }
        let claimed: StaticString = """
            t.project_id, t.anonymous_id, (
                SELECT GROUP_CONCAT(o.app_user_id) FROM identity_claims o FORCE INDEX (identity_claims_claim)
                WHERE o.project_id = t.project_id AND o.anonymous_id = t.anonymous_id)
            """
        try readRows(of: .claims, [record], claimed, size: nil) { row in
            let id = FrozenID(project: try row.read(), name: try row.read())
            let claimants = try row.read(String?.self) ?? ""
            if claimants.split(separator: ",").allSatisfy(exported.listed.contains) { try body(id) }
        }
    }

    /// Reads all rows of a source, page by page; each page is a range of an index.
    private func readRows(
        of source: RecordSection.Source, _ key: Arguments, _ select: StaticString, size: StaticString?,
        _ read: (inout Row) throws -> Void
    ) throws {
        var position = source.order.start
        while true {
            var end: Timestamp?
            var window: Arguments = []
            if let sql = source.end {
                let skipped = RecordSection.page.rows - 1
                end = try first(sql, arguments: key + [position[0], skipped]) { row in try row.read(Timestamp.self) }
                window = [end ?? Timestamp.storable.upperBound]
            }
            while let last = try readPage(of: source, key + window + position, select, size: size, read) {
                position = last
            }
            guard let time = end else { return }
            position = RecordSection.Source.Order.end(of: time)
        }
    }

    /// - Returns: the position of the last row; nil if no row follows.
    private func readPage(
        of source: RecordSection.Source, _ arguments: Arguments, _ select: StaticString, size: StaticString?,
        _ read: (inout Row) throws -> Void
    ) throws -> Arguments? {
        var limit = RecordSection.page.rows
        if let size {
            let sql = ComposedSQL(joining: ["SELECT ", size, " ", source.rows])
            let sizes = try all(sql.with(arguments: arguments + [limit])) { row in try row.read(Int.self) }
            if sizes.isEmpty { return nil }
            var (bytes, fitting) = (0, 0)
            for size in sizes {
                bytes += size
                if bytes > RecordSection.page.bytes { break }
                fitting += 1
            }
            if fitting < sizes.count { limit = max(fitting, 1) }
        }
        let sql = ComposedSQL(joining: ["SELECT ", source.position, ", ", select, " ", source.rows])
        let positions = try all(sql.with(arguments: arguments + [limit])) { row in
            let position = try source.order.position(from: &row)
            try read(&row)
            return position
        }
        return positions.count == limit ? positions.last : nil
    }
}
