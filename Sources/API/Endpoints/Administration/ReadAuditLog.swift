import Accounts
import Database
import HTTP
import JSON
import Time

/// `GET /api/v1/admin/audit_log?user_id=&action=&before=&limit=` (accounts §4.7): the newest first.
@Sendable func listAuditLog(_ call: Call, _ administrator: Administrator) throws -> Response {
    let query = try call.auditQuery()
    let (before, limit) = (try call.before(ListedAuditEntry.self), try call.listLimit())
    return try call.show("audit_log", of: query.user, to: administrator) { connection in
        try connection.auditLog(query, after: before, limit: limit)
    } answer: { page in
        .json(.ok, AuditLogReply(entries: try page.rows.map(AuditEntryReply.init), nextCursor: page.next))
    }
}

extension Call {
    /// The filters of the audit log.
    ///
    /// - Throws: `invalidRequest`.
    func auditQuery() throws -> AuditQuery {
        let action = queryParameters.comparable("action") ?? ""
        return AuditQuery(user: try filter("user_id", User.self), action: action.isEmpty ? nil : action)
    }
}

private struct AuditLogReply: Encodable {
    let entries: [AuditEntryReply]
    @Nullable var nextCursor: String?
}

private struct AuditEntryReply: Encodable {
    let id: ListedAuditEntry.ID
    let at: String
    @Nullable var userID: User.ID?
    let actor: String
    let action: String
    @Nullable var requestID: String?
    @Nullable var ip: String?
    @Nullable var details: JSONValue?

    init(_ entry: ListedAuditEntry) throws {
        id = entry.id
        at = entry.at.iso8601
        userID = entry.user
        actor = entry.actor
        action = entry.action
        requestID = entry.requestID
        ip = entry.ip
        details = try entry.details.map { try JSONValue(json: Array($0.utf8)) }
    }
}
