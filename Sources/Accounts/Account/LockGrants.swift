import MariaDB

extension AccountsTransaction {
    /// Locks the grants of a user that are not revoked, in ascending order (accounts §0.4).
    ///
    /// - Parameter user: locked, so that nobody adds a grant.
    func lockLiveGrants(
        of user: User.ID
    ) throws -> [(grant: Grant, application: Application.ID, clientID: String)] {
        let ids = try connection.all(
            "SELECT id FROM grants WHERE user_id = ? AND revoked_at IS NULL ORDER BY id", user
        ) { row in try row.read(Grant.ID.self) }
        if ids.isEmpty { return [] }
        // By primary key: the index by user would lock in the order of applications. A subquery's rows are not locked.
        var sql = ComposedSQL(
            """
            SELECT g.id, g.sub, g.scopes, g.application_id,
                   (SELECT a.client_id FROM applications a WHERE a.id = g.application_id)
            FROM grants g FORCE INDEX (PRIMARY)
            """)
        sql.append(" WHERE g.id IN ", oneOf: ids)
        sql.append(" ORDER BY g.id FOR UPDATE")
        return try connection.all(sql) { row in
            let grant = Grant(
                id: try row.read(), sub: try row.read(), scopes: Scopes(try row.read()), isLive: true)
            return (grant, try row.read(), try row.read())
        }
    }
}
