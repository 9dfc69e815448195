internal import Fetch
internal import JOSE
internal import JSON
package import OpenSSL
internal import Text
package import Time

/// With what the server acts as Apple's client: it exchanges authorization codes and revokes tokens (accounts §4.5).
package struct AppleClientSettings: Sendable {
    /// The issuer of client secrets.
    package var teamID: String
    package var keyID: String
    /// P-256.
    package var privateKey: PrivateKey
    package var tokenURL: String
    package var revocationURL: String
    /// True only for stand-ins and tests.
    package var allowsLoopbackHTTP: Bool
    /// The most time that an exchange may take in total.
    package var timeout = Self.defaultTimeout

    package static let defaultTimeout = Duration.seconds(3)

    package init(
        teamID: String, keyID: String, privateKey: PrivateKey,
        tokenURL: String = "https://appleid.apple.com/auth/token",
        revocationURL: String = "https://appleid.apple.com/auth/revoke", allowsLoopbackHTTP: Bool = false
    ) {
        self.teamID = teamID
        self.keyID = keyID
        self.privateKey = privateKey
        self.tokenURL = tokenURL
        self.revocationURL = revocationURL
        self.allowsLoopbackHTTP = allowsLoopbackHTTP
    }
}

/// A refresh token that Apple issued. It serves only to be revoked.
package struct AppleGrant: Equatable, Sendable {
    package var refreshToken: String
    /// To whom it was issued: the client id that the identity token was made for.
    package var clientID: String

    package init(refreshToken: String, clientID: String) {
        self.refreshToken = refreshToken
        self.clientID = clientID
    }
}

/// Why an authorization code was not exchanged; without codes and tokens.
package struct AppleExchangeFailure: Error, CustomStringConvertible {
    package let description: String
}

package struct AppleClient: Sendable {
    package let settings: AppleClientSettings
    private let fetcher: Fetcher
    private let clock: Clock

    /// The `aud` of client secrets.
    private static let audience = "https://appleid.apple.com"
    private static let secretLifetime = Duration.seconds(300)
    /// Longer codes and tokens than Apple has ever issued.
    private static let longest = 1024
    private static let longestClientID = 255

    package init(_ settings: AppleClientSettings, clock: Clock = .system) {
        self.settings = settings
        self.clock = clock
        var options = Fetcher.Options()
        (options.connectTimeout, options.timeout, options.maximumSize) = (settings.timeout, settings.timeout, 65_536)
        options.allowsLoopbackHTTP = settings.allowsLoopbackHTTP
        fetcher = Fetcher(options)
    }

    /// Exchanges an authorization code. Call it before a transaction begins; it takes `settings.timeout` at most.
    ///
    /// - Parameters:
    ///   - token: the identity token that came with the code, already verified.
    ///   - redirectURI: where the browser came back to; nil for apps.
    /// - Throws: also if the exchange's own id_token is for another person or client.
    package func exchange(
        _ code: String, for token: IdentityToken, redirectURI: String? = nil
    ) throws(AppleExchangeFailure) -> AppleGrant {
        guard code.utf8.count <= Self.longest else { throw AppleExchangeFailure(description: "the code is too long") }
        guard token.audience.utf8.count <= Self.longestClientID, token.audience.utf8.allSatisfy({ $0 < 0x80 }) else {
            throw AppleExchangeFailure(description: "the client id is not one of Apple's")
        }
        var fields = [("grant_type", "authorization_code"), ("code", code)]
        if let redirectURI { fields.append(("redirect_uri", redirectURI)) }
        let response: Fetcher.Response
        do {
            response = try fetcher.post(
                settings.tokenURL, headers: Self.headers, body: try form(fields, of: token.audience, at: clock.now))
        } catch let error as FetchError {
            throw AppleExchangeFailure(description: "no answer: \(error.message)")
        } catch {
            throw AppleExchangeFailure(description: "no client secret")
        }
        let answer = try? JSONValue(json: response.body)
        guard response.status == 200 else {
            throw AppleExchangeFailure(
                description: "status \(response.status) \((answer?["error"]?.string ?? "").prefix(40))")
        }
        // It comes from Apple over a verified connection, which stands in for its signature (OpenID Connect Core
        // §3.1.3.7).
        guard let refreshToken = answer?["refresh_token"]?.string, (1...Self.longest).contains(refreshToken.utf8.count),
            let claims = (answer?["id_token"]?.string).flatMap({ try? JWT($0) })?.claims
        else { throw AppleExchangeFailure(description: "the answer has no tokens") }
        guard claims.subject?.utf8.elementsEqual(token.subject.utf8) == true else {
            throw AppleExchangeFailure(description: "the code is another person's")
        }
        guard claims.audience?.contains(where: { $0.utf8.elementsEqual(token.audience.utf8) }) == true else {
            throw AppleExchangeFailure(description: "the code is another client's")
        }
        return AppleGrant(refreshToken: refreshToken, clientID: token.audience)
    }

    /// The body of a request that revokes a token.
    package func revocation(of grant: AppleGrant, at now: Timestamp) throws(OpenSSLError) -> [UInt8] {
        try form(
            [("token", grant.refreshToken), ("token_type_hint", "refresh_token")], of: grant.clientID, at: now)
    }

    package static let headers = [("Content-Type", "application/x-www-form-urlencoded")]

    private struct SecretClaims: Encodable {
        var iss: String
        var iat: Int64
        var exp: Int64
        var aud: String
        var sub: String
    }

    private func form(
        _ fields: [(String, String)], of clientID: String, at now: Timestamp
    ) throws(OpenSSLError) -> [UInt8] {
        let secret = try Signer(keyID: settings.keyID, key: settings.privateKey).sign(
            SecretClaims(
                iss: settings.teamID, iat: now.seconds, exp: (now + Self.secretLifetime).seconds, aud: Self.audience,
                sub: clientID))
        let pairs = [("client_id", clientID), ("client_secret", secret)] + fields
        return Array(pairs.map { "\($0)=\(PercentEncoding.encode($1))" }.joined(separator: "&").utf8)
    }
}
