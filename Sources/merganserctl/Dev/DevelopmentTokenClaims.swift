import IdentityTokens
import JOSE

/// The claims of an identity token, as Apple and Google write them.
struct DevelopmentTokenClaims: Encodable {
    let iss: String
    let aud: String
    let sub: String
    let iat: Int64
    let exp: Int64
    /// As the token holds it: the digest of the raw nonce.
    let nonce: String
    let email: String?
    let emailVerified: Bool?
    let name: String?
}

extension DevelopmentIssuer {
    /// - Parameter keyID: the kid for the header; nil for the key's own.
    /// - Throws: `refused` before `initialize`.
    func token(
        of provider: Provider, _ claims: DevelopmentTokenClaims, _ algorithm: Algorithm = .rs256, keyID: String? = nil
    ) throws -> String {
        guard let key = try key(provider, algorithm) else {
            throw ToolError(.refused, "the development issuer has no keys yet; run: merganserctl dev issuer init")
        }
        return try Signer(keyID: keyID ?? Self.keyID(of: key), key: key).sign(claims)
    }
}
