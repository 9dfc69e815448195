import JOSE
import OpenSSL
import Time

/// A published key with its parts, the private one sealed.
struct PublishedSigningKey: Equatable, Sendable {
    var keyID: String
    /// RFC 7517 §4 in JSON.
    var publicJWK: String
    var sealedPrivateKey: [UInt8]?
    var activatedAt: Timestamp?

    /// Nil for a column that was tampered with.
    var jwk: JWK? { KeySet(json: Array(#"{"keys":[\#(publicJWK)]}"#.utf8))?[keyID] }

    /// Signs only what the published part verifies.
    func open(with serverKey: ServerKey) -> Result<Signer, SigningKeyUnavailable> {
        guard let sealedPrivateKey else {
            return .failure(SigningKeyUnavailable("the private part of signing key \(keyID) is gone"))
        }
        guard let pem = try? serverKey.open(sealedPrivateKey, for: SigningKey.row(keyID)),
            let key = try? PrivateKey(pem: String(decoding: pem, as: UTF8.self))
        else {
            return .failure(
                SigningKeyUnavailable(
                    "signing key \(keyID) does not open: set the key it was sealed under as MERGANSER_SERVER_KEY, or as "
                        + "MERGANSER_SERVER_KEY_PREVIOUS"))
        }
        guard jwk?.key.components == key.publicKey.components else {
            return .failure(SigningKeyUnavailable("what is published of signing key \(keyID) is not its public part"))
        }
        return .success(Signer(keyID: keyID, key: key))
    }
}
