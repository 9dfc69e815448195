package import IdentityTokens
package import JOSE
package import JSON
package import OpenSSL
import Synchronization
import Text
package import Time

/// An identity provider that a test controls: keys, tokens with any content, and the key set, which it can serve on a
/// loopback address.
package final class TestIssuer: Sendable {
    package let provider: Provider
    package let issuer: String
    package let audience = "com.example.app"
    package let webClientID = "com.example.web"

    private let clock: Clock
    private let published: Mutex<[Signer]>

    // Generated once for all tests: making an RSA key takes a while.
    package static let key = generated { () throws(OpenSSLError) in try .generateRSA() }
    package static let otherKey = generated { () throws(OpenSSLError) in try .generateRSA() }
    package static let ellipticCurveKey = generated { () throws(OpenSSLError) in try .generateP256() }

    package static let rsa = Signer(keyID: "rsa", key: key)
    package static let otherRSA = Signer(keyID: "rsa-2", key: otherKey)
    package static let p256 = Signer(keyID: "p256", key: ellipticCurveKey)

    private static func generated(_ key: () throws(OpenSSLError) -> PrivateKey) -> PrivateKey {
        do {
            return try key()
        } catch {
            preconditionFailure("\(error)")
        }
    }

    /// Publishes an RSA key `rsa` and a P-256 key `p256`.
    package init(_ provider: Provider = .apple, clock: Clock = .system) {
        self.provider = provider
        self.clock = clock
        issuer = provider.defaults.issuers[0]
        published = Mutex([Self.rsa, Self.p256])
    }

    /// Replaces the published keys.
    package func publish(_ signers: [Signer]) { published.withLock { $0 = signers } }

    package var keySetJSON: [UInt8] { KeySet(published.withLock { $0 }.map(\.jwk)).json() }

    /// - Parameter jwksURL: by default an address at which nothing listens.
    package func settings(jwksURL: String = "http://127.0.0.1:1/keys") -> ProviderSettings {
        ProviderSettings(
            issuers: [issuer], jwksURL: jwksURL, audiences: [audience, webClientID],
            authorizeURL: "https://\(provider.rawValue).example/authorize", webClientID: webClientID,
            allowsLoopbackHTTP: true)
    }

    /// Serves the key set at every path.
    package func serve(maxAge: Int = 3600) throws -> LocalHTTPServer {
        try LocalHTTPServer { [self] _ in
            .response(headers: [("cache-control", "public, max-age=\(maxAge)")], body: keySetJSON)
        }
    }

    /// A verifier that already has the issuers' key sets and never fetches them.
    package static func verifier(_ issuers: TestIssuer..., clock: Clock = .system) -> IdentityTokenVerifier {
        IdentityTokenVerifier(
            providers: Dictionary(uniqueKeysWithValues: issuers.map { ($0.provider, $0.settings()) }),
            cacheDirectory: nil, clock: clock,
            initialKeySets: Dictionary(uniqueKeysWithValues: issuers.map { ($0.provider, $0.keySetJSON) }))
    }

    /// A token like the provider's: for this issuer's audience, issued now.
    ///
    /// - Parameters:
    ///   - nonce: the raw nonce; the claim is its SHA-256 in hexadecimal.
    ///   - kid: another key id for the header.
    ///   - extra: claims to add or to replace.
    package func token(
        subject: String = "subject", nonce: String = "nonce", email: String? = nil, emailVerified: JSONValue? = nil,
        name: String? = nil, audience: JSONValue? = nil, issuer: String? = nil, expiresIn: Int = 600,
        kid: String? = nil, alg: Algorithm = .rs256, extra: [String: JSONValue] = [:]
    ) -> String {
        var claims = claims(subject: subject, nonce: nonce, expiresIn: expiresIn)
        claims["email"] = email.map(JSONValue.string)
        claims["email_verified"] = emailVerified
        claims["name"] = name.map(JSONValue.string)
        if let audience { claims["aud"] = audience }
        if let issuer { claims["iss"] = .string(issuer) }
        claims.merge(extra) { $1 }
        let signer = alg == .rs256 ? Self.rsa : Self.p256
        var header = Self.header(signer)
        if let kid { header["kid"] = .string(kid) }
        return Self.token(header: header, claims: claims, signer)
    }

    /// The claims of a valid token.
    package func claims(
        subject: String = "subject", nonce: String = "nonce", expiresIn: Int = 600
    ) -> [String: JSONValue] {
        let now = clock.now.seconds
        return [
            "iss": .string(issuer), "aud": .string(audience), "sub": .string(subject), "iat": .integer(now),
            "exp": .integer(now + Int64(expiresIn)), "nonce": .string(Self.hexDigest(nonce)),
        ]
    }

    /// The nonce claim that a provider derives from the client's raw nonce.
    package static func hexDigest(_ rawNonce: String) -> String { sha256(rawNonce.utf8).hexadecimal }

    package static func header(_ signer: Signer) -> [String: JSONValue] {
        ["alg": .string(signer.jwk.algorithm.rawValue), "kid": .string(signer.keyID)]
    }

    /// A token with exactly these claims, signed by the key even if its header names another algorithm.
    package static func token(
        header: [String: JSONValue], claims: [String: JSONValue], _ signer: Signer
    ) -> String {
        do {
            return try signer.sign(header: header, payload: claims.json())
        } catch {
            preconditionFailure("\(error)")
        }
    }
}
