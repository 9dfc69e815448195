import JSON
import MariaDB

extension AccountsTransaction {
    /// Appends all rows in one statement.
    func appendToAuditLog(_ entries: [AuditEntry]) throws {
        if entries.isEmpty { return }
        let rows = entries.map { entry in
            var details = entry.details
            if let device = origin.claimedDevice { details.append(("claimed_device_uuid", .string(device))) }
            return AuditRow(
                user: entry.user, actor: entry.actor.text, action: entry.action.rawValue,
                details: details.isEmpty ? nil : .object(JSONObject(details)))
        }
        try connection.execute(
            """
            INSERT INTO audit_log (at, user_id, actor, action, request_id, ip, details)
            SELECT ?, entry.user_id, entry.actor, entry.action, ?, ?, entry.details
            FROM JSON_TABLE(?, '$[*]' COLUMNS (
                position FOR ORDINALITY,
                user_id BIGINT UNSIGNED PATH '$.user',
                actor VARCHAR(64) PATH '$.actor',
                action VARCHAR(64) PATH '$.action',
                details JSON PATH '$.details'
            )) AS entry ORDER BY entry.position
            """, now, origin.requestID, origin.address, String(decoding: rows.json(), as: UTF8.self))
    }
}

private struct AuditRow: Encodable {
    var user: User.ID?
    var actor: String
    var action: String
    var details: JSONValue?
}
