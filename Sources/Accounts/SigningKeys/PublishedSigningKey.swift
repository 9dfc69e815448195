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
            return .failure(SigningKeyUnavailable("the private part of signing key \(keyID) is deleted"))
        }
        guard let pem = try? serverKey.open(sealedPrivateKey, for: SigningKey.row(keyID)),
            let key = try? PrivateKey(pem: String(decoding: pem, as: UTF8.self))
        else {
            return .failure(
                SigningKeyUnavailable(
                    "signing key \(keyID) cannot be opened: set the server key that sealed it as MERGANSER_SERVER_KEY or "
                        + "MERGANSER_SERVER_KEY_PREVIOUS"))
        }
        guard jwk?.key.components == key.publicKey.components else {
            return .failure(
                SigningKeyUnavailable("the published part of signing key \(keyID) does not match its private part"))
        }
        return .success(Signer(keyID: keyID, key: key))
    }
}
