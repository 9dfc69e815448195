import JSON
package import MariaDB
package import Time

/// An application as an operator sees it; without its secret, of which only a digest exists.
package struct ApplicationSummary: Sendable {
    package var id: Application.ID
    package var clientID: String
    package var name: String
    package var clientType: String
    package var redirectURIs: [String]
    package var allowedScopes: [String]
    package var status: String
    package var allowAnonymousGrants: Bool
    package var notifyAnonymousSwap: Bool
    package var firstParty: Bool
    package var createdAt: Timestamp
    package var liveGrants: Int
}

extension Connection {
    /// Every application in the order of their creation.
    package func applications() throws -> [ApplicationSummary] {
        try all(
            """
            SELECT a.id, a.client_id, a.name, a.client_type, a.redirect_uris, a.allowed_scopes, a.status,
                   a.allow_anonymous_grants, a.notify_anonymous_swap, a.first_party, a.created_at,
                   (SELECT COUNT(*) FROM grants g WHERE g.application_id = a.id AND g.revoked_at IS NULL)
            FROM applications a ORDER BY a.id
            """
        ) { row in try ApplicationSummary(from: &row) }
    }

    package func application(clientID: String) throws -> ApplicationSummary? {
        try first(
            """
            SELECT a.id, a.client_id, a.name, a.client_type, a.redirect_uris, a.allowed_scopes, a.status,
                   a.allow_anonymous_grants, a.notify_anonymous_swap, a.first_party, a.created_at,
                   (SELECT COUNT(*) FROM grants g WHERE g.application_id = a.id AND g.revoked_at IS NULL)
            FROM applications a WHERE a.client_id = ?
            """, clientID
        ) { row in try ApplicationSummary(from: &row) }
    }
}

extension ApplicationSummary {
    fileprivate init(from row: inout Row) throws {
        id = try row.read()
        clientID = try row.read()
        name = try row.read()
        clientType = try row.read()
        redirectURIs = try [String](json: Array(row.read(String.self).utf8))
        allowedScopes = try row.read(String.self).split(separator: " ").map(String.init)
        status = try row.read()
        allowAnonymousGrants = try row.read()
        notifyAnonymousSwap = try row.read()
        firstParty = try row.read()
        createdAt = try row.read()
        liveGrants = try row.read()
    }
}
