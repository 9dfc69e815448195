import Crypto
import CryptoExtras
public import Foundation
import MerganserClient

/// Why an id_token cannot be believed.
public enum IDTokenFault: String, Error, Hashable, Sendable {
    /// No JWT, or a claim is missing or of the wrong type.
    case malformed
    /// The token is signed with something else than RS256, or has critical extensions.
    case unsupportedAlgorithm
    /// The server publishes no key of this name, also when asked again.
    case unknownKey
    /// The signature is not the key's.
    case badSignature
    /// `iss` is another server.
    case wrongIssuer
    /// `aud` is another client_id.
    case wrongAudience
    /// The token belongs to another sign-in.
    case wrongNonce
    /// The token belongs to another access token.
    case wrongAccessToken
    /// `exp` has passed.
    case expired
    /// It was issued in the future.
    case notYetValid
    /// A refresh answered for somebody else.
    case wrongSubject
    /// `openid` was granted, and there is no id_token.
    case missing
}

/// Verifies id_tokens (OpenID Connect Core §3.1.3.7): RS256 by kid, issuer, audience, nonce, at_hash, expiry.
///
/// The server's keys are kept in the store. They are fetched when a token names one that is not there; after a fetch that
/// did not bring it, there is no other one for 30 seconds.
public actor IDTokenVerifier {
    private let issuer: String
    private let audience: String
    private let server: Server
    private let keys: RecordStore<KeySet>
    private var cached: KeySet?
    private var fetching: SharedTask<KeySet>?
    /// When a fetch did not bring what was looked for, in the device's uptime.
    private var lastInVain: Duration?

    /// - Parameters:
    ///   - issuer: the server, and what `iss` has to be.
    ///   - audience: the client_id.
    ///   - store: keeps the keys for the next launch.
    ///   - transport: what carries requests.
    ///   - clock: the device's.
    public init(
        issuer: URL, audience: String, store: any SecureStore = InMemoryStore(),
        transport: any Transport = URLSessionTransport(), clock: any DeviceClock = SystemClock()
    ) {
        self.init(
            issuer: issuer.withoutFinalSlash, audience: audience,
            server: Server(issuer, transport: transport, clock: ServerClock(clock), device: clock), store: store)
    }

    init(issuer: String, audience: String, server: Server, store: any SecureStore) {
        self.issuer = issuer
        self.audience = audience
        self.server = server
        keys = RecordStore(
            store: store, item: StoredItem(.keys, of: server.base.absoluteString), empty: KeySet(keys: []))
    }

    /// - Parameters:
    ///   - token: the id_token.
    ///   - accessToken: what came with the token; nil if none did.
    ///   - nonce: what the authorize request said; nil for a token of a refresh, which has none.
    ///   - time: when the token has to be valid, in server time; nil is now.
    /// - Throws: `invalidIDToken`; `offline` or `server` if keys are needed and cannot be fetched.
    public func verify(
        _ token: String, accessToken: String? = nil, nonce: String? = nil, at time: Date? = nil
    ) async throws -> MerganserClaims {
        try await verify(token, accessToken: accessToken, nonce: nonce, validAt: time.map(Validity.at) ?? .now)
    }

    /// When a token has to be valid.
    enum Validity: Sendable {
        case now
        /// In server time.
        case at(Date)
        /// Whether it has expired does not matter: the token endpoint itself has just given it, in answer to a refresh of up
        /// to a day ago (accounts §3.8). When that was, a clock that was wrong then cannot tell.
        case whenIssued
    }

    func verify(
        _ token: String, accessToken: String?, nonce: String?, validAt validity: Validity
    ) async throws -> MerganserClaims {
        do {
            let parsed = try SignedToken(token)
            try await verifySignature(parsed)
            return try verifyClaims(parsed, accessToken: accessToken, nonce: nonce, validity)
        } catch let fault as IDTokenFault {
            throw MerganserError.invalidIDToken(fault)
        }
    }

    private func verifySignature(_ token: SignedToken) async throws {
        guard token.header.alg == "RS256", token.header.crit == nil else { throw IDTokenFault.unsupportedAlgorithm }
        guard let kid = token.header.kid else { throw IDTokenFault.unknownKey }
        guard let key = try await key(kid) else { throw IDTokenFault.unknownKey }
        let signature = _RSA.Signing.RSASignature(rawRepresentation: token.signature)
        guard key.isValidSignature(signature, for: SHA256.hash(data: token.signed), padding: .insecurePKCS1v1_5) else {
            throw IDTokenFault.badSignature
        }
    }

    private func verifyClaims(
        _ token: SignedToken, accessToken: String?, nonce: String?, _ validity: Validity
    ) throws(IDTokenFault) -> MerganserClaims {
        let claims = try token.claims(VerifiedClaims.self)
        let times = try token.claims(TokenTimes.self)
        guard claims.iss == issuer else { throw .wrongIssuer }
        guard claims.aud == audience else { throw .wrongAudience }
        guard claims.nonce == nonce else { throw .wrongNonce }
        if let accessToken {
            let half = Data(SHA256.hash(data: Data(accessToken.utf8)).prefix(16))
            guard claims.atHash == half.base64URL else { throw .wrongAccessToken }
        }
        let now = server.clock.now
        let time =
            switch validity {
            case .now: now
            case .at(let time): time
            case .whenIssued: min(times.iat, now)
            }
        guard times.exp + Self.leeway > time else { throw .expired }
        guard times.iat - Self.leeway < max(time, now) else { throw .notYetValid }
        return try token.claims(MerganserClaims.self)
    }

    /// Seconds: how far the server's clock may be from what its answers' Date says.
    private static let leeway: TimeInterval = 60

    // MARK: Keys

    private func key(_ kid: String) async throws -> _RSA.Signing.PublicKey? {
        // A store that cannot be read costs a fetch.
        let known = cached ?? (try? keys.read()) ?? KeySet(keys: [])
        cached = known
        if let key = known.key(kid) { return key }
        // Whoever sends tokens with names of their own making does not make this one ask each time.
        if let lastInVain, server.uptime - lastInVain < .seconds(30) { return nil }
        let task = fetching ?? SharedTask { try await self.fetch() }
        fetching = task
        let key = try await task.value.key(kid)
        if key == nil { lastInVain = server.uptime }
        return key
    }

    private func fetch() async throws -> KeySet {
        defer { fetching = nil }
        let answer = try await server.answer(to: Call("GET", "/.well-known/jwks.json"))
        guard answer.status == 200, let fetched = try? JSONDecoder().decode(KeySet.self, from: answer.body) else {
            throw answer.error
        }
        cached = fetched
        _ = try? keys.update { $0 = fetched }
        return fetched
    }
}

private struct VerifiedClaims: Decodable {
    let iss: String
    let aud: String
    let nonce: String?
    let atHash: String?

    enum CodingKeys: String, CodingKey {
        case iss, aud, nonce
        case atHash = "at_hash"
    }
}

/// What the server publishes (RFC 7517).
struct KeySet: Codable, Sendable {
    struct Key: Codable, Sendable {
        let kty: String
        let kid: String?
        let use: String?
        let alg: String?
        let n: String?
        let e: String?
    }

    var keys: [Key]

    /// The RSA key of this name; nil if there is none or there are two.
    func key(_ kid: String) -> _RSA.Signing.PublicKey? {
        let named = keys.filter {
            $0.kid == kid && $0.kty == "RSA" && $0.use ?? "sig" == "sig" && $0.alg ?? "RS256" == "RS256"
        }
        guard named.count == 1, let n = named[0].n.flatMap({ Data(base64URL: $0) }),
            let e = named[0].e.flatMap({ Data(base64URL: $0) })
        else { return nil }
        return try? _RSA.Signing.PublicKey(n: n, e: e)
    }
}
