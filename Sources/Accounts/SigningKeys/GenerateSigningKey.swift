import JOSE
import JSON
package import OpenSSL
import Text
package import Time

extension AccountsTransaction {
    /// Publishes a fresh key as the next one (accounts §2.10).
    ///
    /// - Parameter key: made outside the transaction, since that takes long.
    /// - Returns: the key, and when it may be activated.
    /// - Throws: `RefusedOperation` when the servers' key must be another than `serverKey`.
    package func publish(
        _ key: PrivateKey, sealedUnder serverKey: ServerKey
    ) throws -> (key: SigningKey, isKnownAt: Timestamp) {
        if let foreign = try connection.foreignSeal(to: serverKey) { throw RefusedOperation(foreign.description) }
        let keyID = randomBytes(8).hexadecimal
        let jwk = JWK(keyID: keyID, key: key.publicKey)
        let keys = try connection.signingKeys()
        try connection.insertSigningKey(
            keyID, publicJWK: String(decoding: jwk.json(), as: UTF8.self),
            sealedPrivateKey: serverKey.seal(Array(key.pem.utf8), for: SigningKey.row(keyID)), at: now)
        audit(.signingKeyGenerated, user: nil, actor: .operator, ["kid": .string(keyID)])
        let published = SigningKey(keyID: keyID, isPublished: true, publishedAt: now)
        return (published, keys.isKnown(published))
    }
}
