internal import JOSE
import JSON
internal import OpenSSL
internal import Text
internal import Time

extension IdentityToken {
    /// By how many seconds the clocks of provider and server may differ.
    private static let leeway = 60.0

    /// Reads claims whose signature is valid, and checks them in the order of accounts §1.5.
    init(
        _ claims: Claims, provider: Provider, settings: ProviderSettings, rawNonce: String, now: Timestamp
    ) throws(InvalidIdentityToken) {
        let audience = try settings.checkIssuerAndAudience(of: claims)
        let issuedAt = try Self.checkTimes(claims, now: now)
        guard let nonce = claims.string("nonce"), Self.isDigest(nonce, of: rawNonce) else {
            throw InvalidIdentityToken(.nonceMismatch)
        }
        guard let subject = claims.subject, (1...255).contains(subject.utf8.count) else {
            throw InvalidIdentityToken(.missingSubject)
        }
        let email = claims.string("email").flatMap { $0.isEmpty ? nil : $0 }
        self.init(
            provider: provider, subject: subject, email: email,
            emailVerified: email != nil && claims.flag("email_verified"),
            isPrivateEmail: email != nil && claims.flag("is_private_email"), hostedDomain: claims.string("hd"),
            name: Name(
                given: claims.string("given_name"), family: claims.string("family_name"),
                whole: claims.string("name")), issuedAt: issuedAt, audience: audience)
    }

    private static func checkTimes(_ claims: Claims, now: Timestamp) throws(InvalidIdentityToken) -> Timestamp {
        let seconds = Double(now.milliseconds) / 1000
        guard let expiry = claims.numericDate("exp"), seconds < expiry + leeway else {
            throw InvalidIdentityToken(.expired)
        }
        guard let issuedAt = claims.numericDate("iat"), issuedAt <= seconds + leeway,
            let milliseconds = Int64(exactly: (issuedAt * 1000).rounded())
        else { throw InvalidIdentityToken(.notYetValid) }
        if claims["nbf"] != nil {
            guard let notBefore = claims.numericDate("nbf"), notBefore <= seconds + leeway else {
                throw InvalidIdentityToken(.notYetValid)
            }
        }
        return Timestamp(milliseconds: milliseconds)
    }

    /// Whether a nonce is the SHA-256 digest of the client's nonce, in lower-case hex or base64url. The client's nonce
    /// itself is never accepted, because a stolen token would show it.
    private static func isDigest(_ nonce: String, of rawNonce: String) -> Bool {
        let digest = sha256(rawNonce.utf8)
        let isHex = constantTimeEqual(Array(nonce.utf8), Array(digest.hexadecimal.utf8))
        let isBase64URL = constantTimeEqual(Array(nonce.utf8), Array(Base64URL.encode(digest).utf8))
        return isHex || isBase64URL
    }
}

extension ProviderSettings {
    /// - Returns: the first of its own client ids that the token is for.
    func checkIssuerAndAudience(of claims: Claims) throws(InvalidIdentityToken) -> String {
        guard let issuer = claims.issuer, issuers.contains(identical: issuer) else {
            throw InvalidIdentityToken(.wrongIssuer)
        }
        guard let audience = claims.audience, let own = audience.first(where: audiences.contains(identical:)),
            audience.count == 1 || claims.authorizedParty.map(audiences.contains(identical:)) == true
        else { throw InvalidIdentityToken(.wrongAudience) }
        return own
    }
}

extension Claims {
    /// A boolean, or a string with its name; anything else is false.
    fileprivate func flag(_ name: String) -> Bool {
        switch self[name] {
        case .bool(let value): value
        case .string(let value): value == "true"
        default: false
        }
    }
}

extension [String] {
    /// Compares byte for byte, because `==` treats canonically equivalent spellings as equal.
    fileprivate func contains(identical text: String) -> Bool {
        contains { $0.utf8.elementsEqual(text.utf8) }
    }
}
