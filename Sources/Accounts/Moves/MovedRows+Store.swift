import MariaDB

/// The rows of a user that a plan names, by id.
extension Connection {
    func agents(of user: User.ID) throws -> [Int64] {
        try all("SELECT id FROM agents WHERE user_id = ? ORDER BY id", user) { row in try row.read() }
    }

    func devices(of user: User.ID) throws -> [Int64] {
        try all("SELECT id FROM devices WHERE user_id = ? ORDER BY id", user) { row in try row.read() }
    }

    /// Those that name the user in either column.
    func pushApprovals(naming user: User.ID) throws -> [Int64] {
        try all(
            """
            SELECT id FROM push_approval_requests WHERE requested_user_id = ? OR approved_user_id = ? ORDER BY id
            """, user, user
        ) { row in try row.read() }
    }
}

/// Moves of one statement each, however many rows; they return how many. Both users are locked.
extension AccountsTransaction {
    func moveAgents(from a: User.ID, to b: User.ID) throws -> Int {
        try connection.execute("UPDATE agents SET user_id = ? WHERE user_id = ?", b, a).affectedRows
    }

    func moveAgentApprovals(from a: User.ID, to b: User.ID) throws -> Int {
        try connection.execute("UPDATE agent_approvals SET user_id = ? WHERE user_id = ?", b, a).affectedRows
    }

    /// Both columns at once: no row can name A afterwards, for naming it takes a lock on A that we hold.
    func movePushApprovals(from a: User.ID, to b: User.ID) throws -> Int {
        try connection.execute(
            """
            UPDATE push_approval_requests
            SET requested_user_id = IF(requested_user_id = ?, ?, requested_user_id),
                approved_user_id = IF(approved_user_id = ?, ?, approved_user_id)
            WHERE requested_user_id = ? OR approved_user_id = ?
            """, a, b, a, b, a, a
        ).affectedRows
    }
}
