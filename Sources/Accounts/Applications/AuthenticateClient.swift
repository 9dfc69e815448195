import ErrorCodes
package import MariaDB
import OpenSSL
import Time

/// The credentials that a client presents (RFC 6749 §2.3.1).
package struct ClientCredentials: Sendable {
    package var clientID: String
    package var secret: String?
    /// The secret as it was sent by HTTP Basic, if form-decoding has made another one of it. Many clients do not encode
    /// it (curl, Python's requests), so they could not present one with `%` or `+` otherwise.
    package var verbatimSecret: String?

    package init(clientID: String, secret: String?, verbatimSecret: String? = nil) {
        self.clientID = clientID
        self.secret = secret
        self.verbatimSecret = verbatimSecret
    }
}

extension Accounts {
    /// Reads the active application that the credentials belong to, with one indexed read (accounts §2.5).
    ///
    /// - Throws: `invalid_client`, also if a public client sends a secret: it has none, so its configuration is wrong.
    package func authenticateClient(
        _ credentials: ClientCredentials, _ connection: Connection
    ) throws -> Application {
        guard let application = try connection.client(credentials.clientID), application.isActive else {
            throw OAuthError(.invalidClient, "unknown client")
        }
        try application.secrets.check(credentials, of: application.clientType, at: clock.now)
        return application
    }
}

/// The client of a grant, read with the grant's subject.
struct GrantedClient: Sendable {
    let clientID: String
    private let clientType: Application.ClientType
    private let secrets: ClientSecrets
    /// When a scope was last dropped from one of its requests.
    private let scopeDroppedAt: Timestamp?

    /// Of an application `a` and its fault `d` of that name.
    static let columns: StaticString = """
        a.client_id, a.client_type, a.secret_digest, a.previous_secret_digest, a.previous_secret_expires_at,
        d.last_seen_at
        """

    init(from row: inout Row) throws {
        clientID = try row.read()
        clientType = Application.ClientType(rawValue: try row.read()) ?? .public
        secrets = try ClientSecrets(from: &row)
        scopeDroppedAt = try row.read()
    }

    /// - Throws: `invalid_client`, as `authenticateClient` does.
    func check(_ credentials: ClientCredentials, at now: Timestamp) throws(OAuthError) {
        try secrets.check(credentials, of: clientType, at: now)
    }

    func hasScopeDrift(at now: Timestamp) -> Bool { AuthorizationFault.isDrift(scopeDroppedAt, at: now) }
}

/// The digests of what a client proves itself with; a public client has none.
struct ClientSecrets: Sendable {
    /// SHA-256.
    private var digest: [UInt8]?
    /// The secret before the last rotation, and how long it is still accepted.
    private var previous: (digest: [UInt8], expiresAt: Timestamp)?

    init() {}

    /// Of the columns `secret_digest`, `previous_secret_digest` and `previous_secret_expires_at`.
    init(from row: inout Row) throws {
        digest = try row.read()
        let (digest, expiresAt) = (try row.read([UInt8]?.self), try row.read(Timestamp?.self))
        if let digest, let expiresAt { previous = (digest, expiresAt) }
    }

    /// - Throws: `invalid_client`.
    func check(
        _ credentials: ClientCredentials, of type: Application.ClientType, at now: Timestamp
    ) throws(OAuthError) {
        switch (type, credentials.secret) {
        case (.public, nil): break
        case (.public, _?): throw OAuthError(.invalidClient, "a public client has no secret; do not send client_secret")
        case (.confidential, nil): throw OAuthError(.invalidClient, "client authentication is required")
        case (.confidential, let secret?):
            if accepts(secret, at: now) { return }
            if let verbatim = credentials.verbatimSecret, accepts(verbatim, at: now) { return }
            throw OAuthError(.invalidClient, "wrong client secret")
        }
    }

    private func accepts(_ secret: String, at now: Timestamp) -> Bool {
        let presented = sha256(secret.utf8)
        if let digest, constantTimeEqual(presented, digest) { return true }
        guard let previous, now < previous.expiresAt else { return false }
        return constantTimeEqual(presented, previous.digest)
    }
}
