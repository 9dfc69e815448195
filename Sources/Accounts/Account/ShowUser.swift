package import MariaDB
package import Time

/// An account and everything that belongs to it, as an operator sees it. It has no secrets and no digests.
package struct UserSummary: Sendable {
    package struct DeviceLine: Sendable {
        package var id: Int
        package var uuid: String
        package var platform: String
        /// False if only a sign-in can open the device again.
        package var hasSecret: Bool
        package var lastSeenAt: Timestamp
    }

    package struct GrantLine: Sendable {
        package var clientID: String
        package var sub: String
        package var scopes: [String]
        package var createdAt: Timestamp
        package var revokedAt: Timestamp?
    }

    package var user: User
    /// The survivor, if this account was merged into another.
    package var mergedInto: User.ID?
    package var identities: [Identity]
    package var devices: [DeviceLine]
    package var grants: [GrantLine]
    package var livePAKs: Int
    package var pendingAgentApprovals: Int
    package var pushApprovals: Int
}

extension Connection {
    /// Call it in a `snapshot`: it runs several queries.
    package func userSummary(_ id: User.ID) throws -> UserSummary? {
        let sql = ComposedSQL(select: User.columns, from: "users u WHERE u.id = ?", id)
        guard let user = try first(sql, read: { row in try User(from: &row) }) else { return nil }
        return UserSummary(
            user: user,
            mergedInto: try first("SELECT primary_user_id FROM identity_links WHERE linked_user_id = ?", id) { row in
                try row.read()
            },
            identities: try identities(of: id), devices: try deviceLines(of: id),
            grants: try grantLines(of: id),
            livePAKs: try first("SELECT COUNT(*) FROM paks WHERE user_id = ? AND revoked_at IS NULL", id) { row in
                try row.read()
            } ?? 0,
            pendingAgentApprovals: try first(
                "SELECT COUNT(*) FROM agent_approvals WHERE user_id = ? AND status = 'pending'", id
            ) { row in try row.read() } ?? 0,
            pushApprovals: try first(
                "SELECT COUNT(*) FROM push_approval_requests WHERE requested_user_id = ? OR approved_user_id = ?", id,
                id
            ) { row in try row.read() } ?? 0)
    }

    private func deviceLines(of user: User.ID) throws -> [UserSummary.DeviceLine] {
        try all(
            """
            SELECT id, device_uuid, platform, secret_digest IS NOT NULL, last_seen_at
            FROM devices WHERE user_id = ? ORDER BY id
            """, user
        ) { row in
            UserSummary.DeviceLine(
                id: try row.read(), uuid: try row.read(), platform: try row.read(), hasSecret: try row.read(),
                lastSeenAt: try row.read())
        }
    }

    private func grantLines(of user: User.ID) throws -> [UserSummary.GrantLine] {
        try all(
            """
            SELECT a.client_id, g.sub, g.scopes, g.created_at, g.revoked_at
            FROM grants g JOIN applications a ON a.id = g.application_id WHERE g.user_id = ? ORDER BY g.id
            """, user
        ) { row in
            UserSummary.GrantLine(
                clientID: try row.read(), sub: try row.read(),
                scopes: try row.read(String.self).split(separator: " ").map(String.init), createdAt: try row.read(),
                revokedAt: try row.read())
        }
    }
}
