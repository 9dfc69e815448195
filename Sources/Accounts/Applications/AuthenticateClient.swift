import ErrorCodes
package import MariaDB
import OpenSSL
import Time

/// The credentials that a client presents (RFC 6749 §2.3.1).
package struct ClientCredentials: Sendable {
    package var clientID: String
    package var secret: String?

    package init(clientID: String, secret: String?) {
        self.clientID = clientID
        self.secret = secret
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
        switch (application.clientType, credentials.secret) {
        case (.public, nil): return application
        case (.public, _?): throw OAuthError(.invalidClient, "a public client has no secret; do not send client_secret")
        case (.confidential, nil): throw OAuthError(.invalidClient, "client authentication is required")
        case (.confidential, let secret?):
            guard application.accepts(secret, at: clock.now) else {
                throw OAuthError(.invalidClient, "wrong client secret")
            }
            return application
        }
    }
}

extension Application {
    fileprivate func accepts(_ secret: String, at now: Timestamp) -> Bool {
        let digest = sha256(secret.utf8)
        if let secretDigest, constantTimeEqual(digest, secretDigest) { return true }
        guard let previousSecret, now < previousSecret.expiresAt else { return false }
        return constantTimeEqual(digest, previousSecret.digest)
    }
}
