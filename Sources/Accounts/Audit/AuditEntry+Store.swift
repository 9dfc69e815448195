import JSON
import MariaDB

extension AccountsTransaction {
    /// Appends all rows in one statement. As rows and not as a query, since a query's inserts would wait for each other: by default
    /// MariaDB gives the ids of one query only after those of another.
    func appendToAuditLog(_ entries: [AuditEntry]) throws {
        if entries.isEmpty { return }
        try connection.executeMany(
            """
            INSERT INTO audit_log (at, user_id, actor, action, request_id, ip, details) VALUES (?, ?, ?, ?, ?, ?, ?)
            """, entries
        ) { [now, origin] entry in
            var details = entry.details
            if let device = origin.claimedDevice { details.append(("claimed_device_uuid", .string(device))) }
            let json = details.isEmpty ? nil : JSONValue.object(JSONObject(details)).json()
            return [
                now, entry.user, entry.actor.text, entry.action.rawValue, origin.requestID, origin.address,
                json.map { String(decoding: $0, as: UTF8.self) },
            ]
        }
    }
}
