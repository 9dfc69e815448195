import Accounts
import Database
import HTTP
import Pages
import Text

/// `GET /admin/audit_log?user_id=&action=&order=&before=` (accounts §4.7).
@Sendable func showAuditLog(_ call: Call, _ console: ConsoleVisitor) throws -> Response {
    let (query, before) = (try call.auditQuery(), try call.before(ListedAuditEntry.self))
    let order = try call.listOrder()
    return try call.show("audit_log", of: query.user, to: console.administrator) { connection in
        try connection.auditLog(query, after: before, order, limit: ListLimit.usual)
    } answer: { page in
        let (user, action) = (query.user.map { String($0.rawValue) } ?? "", query.action ?? "")
        let path = "\(ConsoleSection.auditLog.path)?user_id=\(user)&action=\(PercentEncoding.encode(action))"
        let sorting = Sorting(path: path, isOldestFirst: order == .oldest)
        return .page(
            AuditLogPage(
                user: user, action: action, entries: page.rows.map(ConsoleAuditEntry.init),
                sorting: sorting,
                paging: Paging(path: sorting.firstPage, isFirst: before == nil, cursor: page.next)),
            in: call.language)
    }
}

extension ConsoleAuditEntry {
    init(_ entry: ListedAuditEntry) {
        self.init(
            id: String(entry.id.rawValue), at: entry.at, user: entry.user.map { String($0.rawValue) },
            actor: entry.actor, action: entry.action, requestID: entry.requestID, ip: entry.ip, details: entry.details)
    }
}
