package import MariaDB
import Time

extension Accounts {
    /// The latest requests about a user, newest first (accounts §4.2).
    package func pushApprovals(of user: User.ID, _ connection: Connection) throws -> [PushApproval] {
        let now = clock.now
        let sql = ComposedSQL(
            select: PushApproval.columns,
            from: """
                push_approval_requests r FORCE INDEX (push_approval_requests_requested)
                WHERE r.requested_user_id = ? AND r.public_id IS NOT NULL ORDER BY r.id DESC LIMIT ?
                """, user, PushApproval.listed)
        return try connection.all(sql) { row in try PushApproval(from: &row, at: now) }
    }
}
