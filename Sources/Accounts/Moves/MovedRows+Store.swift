import MariaDB

/// The rows of a user that a plan names, by id.
extension Connection {
    func agents(of user: User.ID) throws -> [Int64] {
        try all("SELECT id FROM agents WHERE user_id = ? ORDER BY id", user) { row in try row.read() }
    }

    func devices(of user: User.ID) throws -> [Int64] {
        try all("SELECT id FROM devices WHERE user_id = ? ORDER BY id", user) { row in try row.read() }
    }

    /// Those that name the user in either column. One read of each index: of a condition with OR the plan would depend on
    /// statistics.
    func pushApprovals(naming user: User.ID) throws -> [Int64] {
        try all(
            """
            SELECT id FROM push_approval_requests FORCE INDEX (push_approval_requests_requested)
            WHERE requested_user_id = ?
            UNION SELECT id FROM push_approval_requests FORCE INDEX (push_approval_requests_approved)
            WHERE approved_user_id = ?
            ORDER BY id
            """, user, user
        ) { row in try row.read() }
    }
}

/// Moves, which return of how many rows. Both users are locked.
extension AccountsTransaction {
    func moveAgents(from a: User.ID, to b: User.ID) throws -> Int {
        try connection.execute("UPDATE agents SET user_id = ? WHERE user_id = ?", b, a).affectedRows
    }

    /// With their histories.
    func moveAgentApprovals(from a: User.ID, to b: User.ID) throws -> Int {
        let outcome = try connection.execute(
            "UPDATE agent_approvals FORCE INDEX (agent_approvals_user_newest) SET user_id = ? WHERE user_id = ?", b, a)
        try connection.execute("UPDATE agent_approval_history SET user_id = ? WHERE user_id = ?", b, a)
        return outcome.affectedRows
    }

    /// Both columns at once: no row can name A afterwards, for naming it takes a lock on A that we hold.
    ///
    /// - Parameter named: all that name A, in ascending order.
    func movePushApprovals(_ named: [Int64], from a: User.ID, to b: User.ID) throws -> Int {
        try connection.executeMany(
            """
            UPDATE push_approval_requests
            SET requested_user_id = IF(requested_user_id = ?, ?, requested_user_id),
                approved_user_id = IF(approved_user_id = ?, ?, approved_user_id)
            WHERE id = ?
            """, named
        ) { [a, b, a, b, $0] }
        return named.count
    }
}
