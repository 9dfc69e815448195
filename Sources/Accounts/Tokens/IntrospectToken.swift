package import MariaDB
package import Time

/// A token that stands, as its own relying party may learn (RFC 7662 §2.2).
package struct Introspection: Sendable {
    package enum Kind: Sendable {
        /// - Parameter jti: as in the token.
        case accessToken(jti: String)
        case refreshToken
    }

    package let kind: Kind
    package let scopes: Scopes
    package let subject: Subject
    package let issuedAt: Timestamp
    package let expiresAt: Timestamp
}

extension Accounts {
    /// One read. Nil for what is no token of the application's, or stands no longer.
    package func introspect(
        _ token: String, for application: Application, _ connection: Connection
    ) throws -> Introspection? {
        guard let signed = try read(token, connection) else {
            return try connection.refreshToken(Secret(presented: token).digest, of: application.id, at: clock.now)
        }
        guard let token = try check(signed, connection), token.application == application.id else { return nil }
        return Introspection(
            kind: .accessToken(jti: signed.jti), scopes: signed.scopes, subject: token.subject,
            issuedAt: signed.issuedAt, expiresAt: signed.expiresAt)
    }
}
