import JSON
package import MariaDB
import Time

extension Connection {
    /// The application with that client_id, whatever its status.
    package func client(_ clientID: String) throws -> Application? {
        try first(
            """
            SELECT id, client_id, name, client_type, status, redirect_uris, allowed_scopes, app_link_url, scope_policy,
                   allow_anonymous_grants, first_party, linked_sub_details, secret_digest, previous_secret_digest,
                   previous_secret_expires_at
            FROM applications WHERE client_id = ?
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
        linkedSubDetails = try row.read()
        secretDigest = try row.read()
        let (digest, expiresAt) = (try row.read([UInt8]?.self), try row.read(Timestamp?.self))
        if let digest, let expiresAt { previousSecret = (digest, expiresAt) }
    }
}
