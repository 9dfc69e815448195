import JOSE
import Text
package import Time

/// The content of an access token whose signature is checked (RFC 9068). It may have been revoked: that is in the
/// database.
package struct SignedAccessToken: Sendable {
    /// The `jti`: the family's handle, then 8 random bytes.
    let id: [UInt8]
    let issuer: String
    let clientID: String
    package let scopes: Scopes
    package let issuedAt: Timestamp
    package let expiresAt: Timestamp

    var familyHandle: [UInt8] { Array(id.prefix(16)) }
    var jti: String { Base64URL.encode(id) }

    /// - Returns: nil if it is not an access token that one of the keys signed.
    init?(_ token: String, keySet: KeySet) {
        guard let jwt = try? JWT(token), (try? jwt.verify(with: keySet)) != nil, jwt.type == "at+jwt" else {
            return nil
        }
        let claims = jwt.claims
        guard let issuer = claims.issuer, let id = claims.string("jti").flatMap(Base64URL.decode), id.count == 24,
            let clientID = claims.string("client_id"), let scope = claims.string("scope"),
            let issuedAt = claims.numericDate("iat"), let expiresAt = claims.numericDate("exp")
        else { return nil }
        self.id = id
        self.issuer = issuer
        self.clientID = clientID
        scopes = Scopes(scope)
        self.issuedAt = Timestamp(seconds: Int64(issuedAt))
        self.expiresAt = Timestamp(seconds: Int64(expiresAt))
    }
}
