import JSON
import MariaDB

extension AccountsTransaction {
    /// Few rows are written with COMMIT.
    private static let few = 8

    /// Appends all rows in one statement. As rows and not as a query, since a query's inserts would wait for each other: by default
    /// MariaDB gives the ids of one query only after those of another.
    func appendToAuditLog(_ entries: [AuditEntry]) throws {
        if entries.isEmpty { return }
        if entries.count <= Self.few {
            var parameters: [Parameter] = []
            parameters.reserveCapacity(7 * entries.count)
            for entry in entries { append(entry, to: &parameters) }
            try connection.executeLater(Self.inserting[entries.count].with(parameters: parameters))
            return
        }
        try connection.executeMany(
            """
            INSERT INTO audit_log (at, user_id, actor, action, request_id, ip, details) VALUES (?, ?, ?, ?, ?, ?, ?)
            """, entries
        ) { entry in
            var parameters: [Parameter] = []
            append(entry, to: &parameters)
            return parameters
        }
    }

    /// The statements, by their number of rows.
    private static let inserting = (0...few).map { rows in
        var sql = ComposedSQL("INSERT INTO audit_log (at, user_id, actor, action, request_id, ip, details) VALUES ")
        for row in 0..<rows { sql.append(row == 0 ? "(?, ?, ?, ?, ?, ?, ?)" : ", (?, ?, ?, ?, ?, ?, ?)") }
        return sql
    }

    private func append(_ entry: AuditEntry, to parameters: inout [Parameter]) {
        var details = entry.details
        if let device = origin.claimedDevice { details.append(("claimed_device_uuid", .string(device))) }
        parameters.append(now.parameter)
        parameters.append(entry.user.parameter)
        parameters.append(.text(entry.actor.text))
        parameters.append(.text(entry.action.rawValue))
        parameters.append(origin.requestID.parameter)
        parameters.append(origin.address.parameter)
        parameters.append(
            details.isEmpty
                ? .null : .text(String(decoding: JSONValue.object(JSONObject(details)).json(), as: UTF8.self)))
    }
}
