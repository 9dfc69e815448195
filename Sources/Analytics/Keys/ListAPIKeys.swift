import JSON
import MariaDB
package import Time

/// A key as an operator sees it: its prefix and its last characters, never the whole secret.
package struct APIKeySummary: Sendable {
    package var id: APIKey.ID
    package var kind: APIKey.Kind
    /// The last four characters of the secret.
    package var lastCharacters: String
    package var app: App.ID?
    package var team: Team.ID
    package var name: String
    package var permissions: [Permission]
    package var lastUsedAt: Timestamp?
    package var expiresAt: Timestamp?
    package var createdAt: Timestamp
    package var revokedAt: Timestamp?
}

extension Connection {
    /// The keys of a team, of an app, or all, in order of creation, including revoked ones.
    package func apiKeys(team: Team.ID? = nil, app: App.ID? = nil) throws -> [APIKeySummary] {
        try all(
            """
            SELECT id, key_type, last4, app_id, team_id, name, permissions, last_used_at, expires_at, created_at,
                   deleted_at
            FROM api_keys WHERE (? IS NULL OR team_id = ?) AND (? IS NULL OR app_id = ?) ORDER BY created_at, id
            """, team, team, app, app
        ) { row in
            APIKeySummary(
                id: try row.read(), kind: try row.read(), lastCharacters: try row.read(), app: try row.read(),
                team: try row.read(), name: try row.read(),
                permissions: try [String](json: Array(try row.read(String.self).utf8)).compactMap(Permission.init),
                lastUsedAt: try row.read(), expiresAt: try row.read(), createdAt: try row.read(),
                revokedAt: try row.read())
        }
    }
}

extension AnalyticsTransaction {
    /// Revokes a key: no request that starts after the commit is accepted with it (analytics §2.5).
    ///
    /// - Returns: when the key was revoked, by this or an earlier call; nil if there is no such key.
    package func revokeAPIKey(_ id: APIKey.ID) throws -> Timestamp? {
        try connection.execute("UPDATE api_keys SET deleted_at = ? WHERE id = ? AND deleted_at IS NULL", now, id)
        return try connection.first("SELECT deleted_at FROM api_keys WHERE id = ?", id) { row in try row.read() }
    }
}
