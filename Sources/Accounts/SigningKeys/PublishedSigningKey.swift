import JOSE
import OpenSSL
import Time

/// A published key with its public part and its sealed private part.
struct PublishedSigningKey: Equatable, Sendable {
    var keyID: String
    /// The public key as JSON (RFC 7517 §4).
    var publicJWK: String
    var sealedPrivateKey: [UInt8]?
    var activatedAt: Timestamp?

    /// Nil if the column was tampered with.
    var jwk: JWK? { KeySet(json: Array(#"{"keys":[\#(publicJWK)]}"#.utf8))?[keyID] }

    /// Opens the private part. Fails if the published part does not belong to it.
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
