import JSON
package import MariaDB
package import Time

/// A row of the audit log, as administrators see it.
package struct ListedAuditEntry: Sendable {
    package typealias ID = Identifier<ListedAuditEntry>

    package var id: ID
    package var at: Timestamp
    package var user: User.ID?
    package var actor: String
    package var action: String
    package var requestID: String?
    package var ip: String?
    /// A JSON object.
    package var details: String?
}

/// Which rows of the audit log a list has; nil: any.
package struct AuditQuery: Sendable {
    package var user: User.ID?
    package var action: String?

    package init(user: User.ID? = nil, action: String? = nil) {
        self.user = user
        self.action = action
    }

    /// How many rows of a user a page looks at for one action. No index has both.
    static let rowsLookedAt = 1000
}

extension Connection {
    /// Rows of the audit log.
    ///
    /// - Parameter last: the last row of the page before.
    package func auditLog(
        _ query: AuditQuery, after last: ListedAuditEntry.ID?, _ order: ListOrder = .newest, limit: Int
    ) throws -> ListPage<ListedAuditEntry> {
        // No action has other characters.
        if let action = query.action, !action.isASCII { return ListPage([], limit: limit) { _ in "" } }
        if let user = query.user, let action = query.action {
            return try auditLog(of: user, action, after: last, order, limit: limit)
        }
        var sql = ComposedSQL(ListedAuditEntry.select)
        if let user = query.user {
            sql.append(" FORCE INDEX (audit_log_user) WHERE user_id = ?", user)
        } else if let action = query.action {
            sql.append(" FORCE INDEX (audit_log_action) WHERE action = ?", action)
        } else {
            sql.append(" WHERE TRUE")
        }
        sql.append(pageAfter: last, order, limit: limit + 1)
        let found = try all(sql) { row in try ListedAuditEntry(from: &row) }
        return ListPage(found, limit: limit) { String($0.id.rawValue) }
    }

    /// One action among a user's rows. A page may end before it is full.
    private func auditLog(
        of user: User.ID, _ action: String, after last: ListedAuditEntry.ID?, _ order: ListOrder, limit: Int
    ) throws -> ListPage<ListedAuditEntry> {
        var sql = ComposedSQL(
            "SELECT id, action = ? FROM audit_log FORCE INDEX (audit_log_user) WHERE user_id = ?", action, user)
        sql.append(pageAfter: last, order, limit: AuditQuery.rowsLookedAt)
        let looked = try all(sql) { row in
            (id: try row.read(ListedAuditEntry.ID.self), isMeant: try row.read(Bool.self))
        }
        let meant = looked.filter(\.isMeant).map(\.id).prefix(limit + 1)
        var found: [ListedAuditEntry] = []
        if !meant.isEmpty {
            var sql = ComposedSQL(ListedAuditEntry.select)
            sql.append(" WHERE id IN ", oneOf: Array(meant))
            sql.append(pageAfter: last, order, limit: limit + 1)
            found = try all(sql) { row in try ListedAuditEntry(from: &row) }
        }
        let isFull = found.count > limit
        let end = isFull || looked.count < AuditQuery.rowsLookedAt ? nil : looked.last?.id
        return ListPage(found, limit: limit, end: end.map { String($0.rawValue) }) { String($0.id.rawValue) }
    }
}

extension ListedAuditEntry {
    fileprivate static let select: StaticString = """
        SELECT id, at, user_id, actor, action, request_id, ip, details FROM audit_log
        """

    fileprivate init(from row: inout Row) throws(MariaDBError) {
        id = try row.read()
        at = try row.read()
        user = try row.read()
        actor = try row.read()
        action = try row.read()
        requestID = try row.read()
        ip = try row.read()
        details = try row.read()
    }
}
