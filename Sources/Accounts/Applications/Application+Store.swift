import JSON
package import MariaDB
import Time

extension Connection {
    /// The application with that client_id, whatever its status.
    package func client(_ clientID: String) throws -> Application? {
        guard clientID.isASCII else { return nil }
        return try first(
            """
            SELECT a.id, a.client_id, a.name, a.client_type, a.status, a.redirect_uris, a.allowed_scopes, a.app_link_url,
                   a.scope_policy, a.allow_anonymous_grants, a.first_party, a.secret_digest,
                   a.previous_secret_digest, a.previous_secret_expires_at, f.last_seen_at
            FROM applications a
            LEFT JOIN application_faults f ON f.application_id = a.id AND f.fault = 'scope_dropped'
            WHERE a.client_id = ?
            """, clientID
        ) { row in try Application(from: &row) }
    }
}

extension Application {
    init(from row: inout Row) throws {
        id = try row.read()
        clientID = try row.read()
        name = try row.read()
        clientType = ClientType(rawValue: try row.read()) ?? .public
        status = Status(rawValue: try row.read()) ?? .suspended
        redirectURIs = try [String](json: Array(row.read(String.self).utf8))
        allowedScopes = Scopes(try row.read())
        appLinkURL = try row.read()
        scopePolicy = ScopePolicy(rawValue: try row.read()) ?? .block
        allowAnonymousGrants = try row.read()
        firstParty = try row.read()
        secrets = try ClientSecrets(from: &row)
        scopeDroppedAt = try row.read()
    }
}
