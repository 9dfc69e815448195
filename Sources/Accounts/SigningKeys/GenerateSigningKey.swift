import JOSE
import JSON
package import OpenSSL
import Text
package import Time

extension AccountsTransaction {
    /// Publishes a new key in the state `next` (accounts §2.10).
    ///
    /// - Parameter key: generated outside the transaction, because that takes long.
    /// - Returns: the key, and when it may be activated.
    /// - Throws: `RefusedOperation` if the stored values are sealed under another server key.
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
