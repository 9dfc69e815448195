import JSON
import MariaDB

extension AccountsTransaction {
    /// Few rows are written with COMMIT.
    private static let few = 8

    /// Appends all rows in one statement. As rows and not as a query, since a query's inserts would wait for each other: by default
    /// MariaDB gives the ids of one query only after those of another.
    func appendToAuditLog(_ entries: [AuditEntry]) throws {
        if entries.isEmpty { return }
        if entries.count > Self.few {
            try connection.executeMany(
                Self.insert, entries,
                arguments: { entry in
                    var values: Arguments = []
                    appendValues(of: entry, to: &values)
                    return values
                })
        } else {
            var values: Arguments = []
            values.reserveCapacity(7 * entries.count)
            for entry in entries { appendValues(of: entry, to: &values) }
            try connection.executeLater(Self.insertFew[entries.count - 1].with(arguments: values))
        }
    }

    private static let insert: StaticString = """
        INSERT INTO audit_log (at, user_id, actor, action, request_id, ip, details) VALUES (?, ?, ?, ?, ?, ?, ?)
        """

    /// `insert` for one row, for two, and so on.
    private static let insertFew = (1...few).map { rows in
        var sql = ComposedSQL(insert)
        for _ in 1..<rows { sql.append(", (?, ?, ?, ?, ?, ?, ?)") }
        return sql
    }

    private func appendValues(of entry: AuditEntry, to values: inout Arguments) {
        var details = entry.details
        if let device = origin.claimedDevice { details.append(("claimed_device_uuid", .string(device))) }
        values.append(now)
        values.append(entry.user)
        values.append(entry.actor.text)
        values.append(entry.action.rawValue)
        values.append(origin.requestID)
        values.append(origin.address)
        values.append(
            details.isEmpty ? nil : String(decoding: JSONValue.object(JSONObject(details)).json(), as: UTF8.self))
    }
}
