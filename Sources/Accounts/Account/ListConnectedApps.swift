package import MariaDB
package import Time

/// An application that the user has a live grant for, as it is shown to the user.
package struct ConnectedApp: Sendable {
    package var clientID: String
    package var name: String
    package var scopes: [String]
    package var grantedAt: Timestamp
    package var lastUsedAt: Timestamp?
}

extension Accounts {
    /// The user's live grants, newest first (accounts §1.7).
    package func connectedApps(of user: User.ID, _ connection: Connection) throws -> [ConnectedApp] {
        try connection.all(
            """
            SELECT a.client_id, a.name, g.scopes, g.created_at, g.last_used_at
            FROM grants g JOIN applications a ON a.id = g.application_id
            WHERE g.user_id = ? AND g.revoked_at IS NULL ORDER BY g.created_at DESC, g.id DESC
            """, user
        ) { row in
            ConnectedApp(
                clientID: try row.read(), name: try row.read(),
                scopes: try row.read(String.self).split(separator: " ").map(String.init), grantedAt: try row.read(),
                lastUsedAt: try row.read())
        }
    }
}
