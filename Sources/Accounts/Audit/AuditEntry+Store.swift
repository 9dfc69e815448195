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
                """
                INSERT INTO audit_log (at, user_id, actor, action, request_id, ip, details) VALUES (?, ?, ?, ?, ?, ?, ?)
                """, entries, arguments: row)
            return
        }
        var sql = ComposedSQL(
            """
            INSERT INTO audit_log (at, user_id, actor, action, request_id, ip, details) VALUES (?, ?, ?, ?, ?, ?, ?)
            """, arguments: row(entries[0]))
        for entry in entries.dropFirst() { sql.append(", (?, ?, ?, ?, ?, ?, ?)", arguments: row(entry)) }
        try connection.executeLater(sql)
    }

    private func row(_ entry: AuditEntry) -> [(any Bindable)?] {
        var details = entry.details
        if let device = origin.claimedDevice { details.append(("claimed_device_uuid", .string(device))) }
        let json = details.isEmpty ? nil : JSONValue.object(JSONObject(details)).json()
        return [
            now, entry.user, entry.actor.text, entry.action.rawValue, origin.requestID, origin.address,
            json.map { String(decoding: $0, as: UTF8.self) },
        ]
    }
}
