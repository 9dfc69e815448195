package import MariaDB
import Time

/// Which requests a user asks for, and where the list goes on.
package struct ApprovalFilter: Sendable {
    package static let defaultLimit = 50
    package static let largestLimit = 200

    /// Nil: any.
    package var status: AgentApproval.Status?
    package var limit: Int
    /// The public id that ended the page before; nil for the first page.
    package var before: String?

    package init(status: AgentApproval.Status?, limit: Int, before: String?) {
        self.status = status
        self.limit = limit
        self.before = before
    }
}

extension Accounts {
    /// A user's requests, newest first. However many there are, it reads little more than it returns.
    ///
    /// - Throws: `invalidCursor` if `before` is no request of the user.
    package func approvals(
        of user: User.ID, _ filter: ApprovalFilter, _ connection: Connection
    ) throws -> (page: [ShownApproval], hasMore: Bool) {
        let now = clock.now
        var last = Int64.max
        if let before = filter.before {
            guard before.isASCII else { throw Failure.invalidCursor }
            let id = try connection.first(
                "SELECT id FROM agent_approvals WHERE public_id = ? AND user_id = ?", before, user
            ) { row in try row.read(Int64.self) }
            guard let id else { throw Failure.invalidCursor }
            last = id
        }
        var found: [ShownApproval] = []
        for condition in Self.conditions(filter.status) {
            // The ids of the page alone, in the order of an index: otherwise all of the user's requests would be sorted.
            var sql = ComposedSQL(
                select: AgentApproval.columns, ShownAgent.columns, from: "(SELECT r.id FROM agent_approvals r ")
            if case .any = condition {
                sql.append("FORCE INDEX (agent_approvals_user_newest)")
            } else {
                sql.append("FORCE INDEX (agent_approvals_user_status)")
            }
            sql.append(" WHERE r.user_id = ? AND r.id < ?", user, last)
            switch condition {
            case .any: break
            case .stored(let status): sql.append(" AND r.status = ?", status)
            case .waiting: sql.append(" AND r.status = 'pending' AND (r.expires_at IS NULL OR r.expires_at > ?)", now)
            case .late: sql.append(" AND r.status = 'pending' AND r.expires_at <= ?", now)
            }
            sql.append(
                """
                 ORDER BY r.id DESC LIMIT ?) page STRAIGHT_JOIN agent_approvals r ON r.id = page.id
                STRAIGHT_JOIN agents a ON a.id = r.agent_id
                """, filter.limit + 1)
            found += try connection.all(sql) { row in
                ShownApproval(approval: try AgentApproval(from: &row), agent: try ShownAgent(from: &row))
            }
        }
        // A join promises no order, and there may be two of them.
        found.sort { $0.approval.id > $1.approval.id }
        let surplus = found.count - filter.limit
        if surplus > 0 { found.removeLast(surplus) }
        return (found, surplus > 0)
    }

    /// - Throws: `approvalNotFound` if the user has no such request.
    package func approval(_ publicID: String, of user: User.ID, _ connection: Connection) throws -> ShownApproval {
        guard publicID.isASCII else { throw Failure.approvalNotFound }
        let found = try connection.first(
            ComposedSQL(
                select: AgentApproval.columns, ShownAgent.columns,
                from: """
                    agent_approvals r JOIN agents a ON a.id = r.agent_id WHERE r.public_id = ? AND r.user_id = ?
                    """, publicID, user)
        ) { row in ShownApproval(approval: try AgentApproval(from: &row), agent: try ShownAgent(from: &row)) }
        guard let found else { throw Failure.approvalNotFound }
        return found
    }

    private enum Condition {
        case any
        case stored(AgentApproval.Status)
        /// Pending, and not too late.
        case waiting
        /// Pending in the row, and too late: clean-up has not come yet.
        case late
    }

    private static func conditions(_ status: AgentApproval.Status?) -> [Condition] {
        switch status {
        case nil: [.any]
        case .pending?: [.waiting]
        case .expired?: [.stored(.expired), .late]
        case let status?: [.stored(status)]
        }
    }
}
