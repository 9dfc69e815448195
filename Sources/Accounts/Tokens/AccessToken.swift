package import MariaDB
import Time

/// An access token that stands, with the person behind it.
package struct AccessToken: Sendable {
    package let signed: SignedAccessToken
    package let application: Application.ID
    package let isFirstParty: Bool
    package let subject: Subject

    package var scopes: Scopes { signed.scopes }
}

extension Accounts {
    /// Nil for anything but an access token of this server.
    func read(_ token: String, _ connection: Connection) throws -> SignedAccessToken? {
        guard let signed = try signingKeys.signedToken(token, connection),
            signed.issuer.utf8.elementsEqual(settings.issuer.utf8)
        else { return nil }
        return signed
    }

    /// The access token, if it stands: checked by itself first, then by one read, which brings the person along.
    ///
    /// - Throws: `invalidToken` when it is none of ours or has expired, or when it, its family, its grant, its application
    ///   or its user is revoked.
    package func checkAccessToken(_ token: String, _ connection: Connection) throws -> AccessToken {
        guard let signed = try read(token, connection), let token = try check(signed, connection) else {
            throw Failure.invalidToken
        }
        return token
    }

    /// Nil when it stands no longer.
    func check(_ signed: SignedAccessToken, _ connection: Connection) throws -> AccessToken? {
        guard clock.now < signed.expiresAt else { return nil }
        return try connection.accessToken(signed)
    }
}
