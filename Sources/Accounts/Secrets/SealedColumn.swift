package import MariaDB

/// A column whose values the server key seals.
package struct SealedColumn: Sendable {
    package let table: StaticString
    private let column: StaticString
    private let key: SealedRow.Key
    private let lifetime: Lifetime
    /// The columns that say for which identity a value is sealed, and how.
    private let identity: (columns: StaticString, read: @Sendable (inout Row) throws -> [UInt8])

    enum Lifetime {
        /// Values stay until they are removed. A server looks for those of another key when it starts.
        ///
        /// - Parameter named: SQL for what an operator calls a value.
        case lasting(named: StaticString)
        /// Values stay, but are too many and too large to look through at each start.
        case lastingMany
        /// Values are gone within a day.
        case short
    }

    init(
        _ table: StaticString, _ column: StaticString, _ lifetime: Lifetime, key: SealedRow.Key = .id,
        for columns: StaticString, _ read: @escaping @Sendable (inout Row) throws -> [UInt8]
    ) {
        self.table = table
        self.column = column
        self.key = key
        self.lifetime = lifetime
        identity = (columns, read)
    }

    /// `table.column`
    var name: String { "\(table).\(column)" }
    var isLasting: Bool { if case .short = lifetime { false } else { true } }

    /// - Parameter isThorough: whether columns of many values are looked through, too.
    /// - Returns: the name of a value that none of these keys sealed; nil also if this column is not looked through.
    func firstName(
        sealedByNoneOf keyIDs: [[UInt8]], isThorough: Bool, _ connection: Connection
    ) throws -> String? {
        let name: [StaticString]
        switch lifetime {
        case .lasting(let sql): name = [sql]
        case .lastingMany where isThorough: name = ["'a value of ", table, ".", column, "'"]
        case .lastingMany, .short: return nil
        }
        var sql = ComposedSQL(
            joining: ["SELECT "] + name + [" FROM ", table, " WHERE SUBSTR(", column, ", 2, 4)"])
        sql.append(" NOT IN ", oneOf: keyIDs)
        sql.append(" LIMIT 1")
        return try connection.first(sql) { row in try row.read() }
    }

    func count(sealedBy keyID: [UInt8], _ connection: Connection) throws -> Int {
        var sql = ComposedSQL(joining: ["SELECT COUNT(*) FROM ", table, " WHERE SUBSTR(", column, ", 2, 4)"])
        sql.append(" = ?", keyID)
        return try connection.first(sql) { row in try row.read() } ?? 0
    }

    /// The next values that a key sealed, in the order of their primary key: no more than `batchBytes`, or one.
    func rows(
        sealedBy keyID: [UInt8], after position: SealedRow.Position?, atMost count: Int, _ connection: Connection
    ) throws -> [SealedRow] {
        func select(_ columns: [StaticString], upTo end: SealedRow.Position?) -> ComposedSQL {
            var sql = ComposedSQL(joining: ["SELECT ", key.columns, ", "] + columns + [" FROM ", table])
            sql.append(ComposedSQL(joining: [" WHERE SUBSTR(", column, ", 2, 4)"]))
            sql.append(" = ?", keyID)
            if let position {
                sql.append(" AND ")
                sql.append(key.isAfter(position))
            }
            if let end {
                sql.append(" AND NOT ")
                sql.append(key.isAfter(end))
            }
            sql.append(ComposedSQL(joining: [" ORDER BY ", key.columns]))
            sql.append(" LIMIT ?", count)
            return sql
        }
        let lengths = try connection.all(select(["LENGTH(", column, ")"], upTo: nil)) { row in
            (key: try key.read(&row), bytes: try row.read(Int.self))
        }
        var total = 0
        let fitting = lengths.prefix { value in
            total += value.bytes
            return total <= Self.batchBytes || total == value.bytes
        }
        guard let end = fitting.last?.key else { return [] }
        let rows = try connection.all(select([identity.columns, ", ", column], upTo: end)) { row in
            SealedRow(key: try key.read(&row), identity: try identity.read(&row), sealed: try row.read())
        }
        // All may be gone by now, but others follow.
        return rows.isEmpty ? try self.rows(sealedBy: keyID, after: end, atMost: count, connection) : rows
    }

    /// - Parameter rows: as they were read, each with its new value.
    /// - Returns: how many still had their old value.
    func replace(_ rows: [(old: SealedRow, sealed: [UInt8])], _ connection: Connection) throws -> Int {
        let sql = ComposedSQL(
            joining: ["UPDATE ", table, " SET ", column, " = ? WHERE ", key.isEqual, " AND ", column, " = ?"])
        return try connection.executeMany(sql, rows.map { [$0.sealed] + $0.old.key + [$0.old.sealed] }).affectedRows
    }
}

/// One sealed value.
package struct SealedRow {
    /// A primary key: the end of a batch is that of its last row.
    package typealias Position = [any Bindable]

    var key: Position
    /// The identity that the value is sealed for.
    var identity: [UInt8]
    var sealed: [UInt8]

    /// What a table's primary key is made of.
    enum Key {
        case id
        case callerAndKey

        var columns: StaticString {
            switch self {
            case .id: "id"
            case .callerAndKey: "caller_digest, key_digest"
            }
        }

        var isEqual: StaticString {
            switch self {
            case .id: "id = ?"
            case .callerAndKey: "caller_digest = ? AND key_digest = ?"
            }
        }

        func isAfter(_ position: Position) -> ComposedSQL {
            switch self {
            case .id: ComposedSQL("(id > ?)", position[0])
            case .callerAndKey:
                ComposedSQL(
                    "(caller_digest > ? OR caller_digest = ? AND key_digest > ?)", position[0], position[0],
                    position[1])
            }
        }

        func read(_ row: inout Row) throws -> Position {
            switch self {
            case .id: [try row.read(Int64.self)]
            case .callerAndKey: [try row.read([UInt8].self), try row.read([UInt8].self)]
            }
        }
    }
}
