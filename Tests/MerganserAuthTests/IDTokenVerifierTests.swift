import Crypto
import CryptoExtras
import Foundation
import MerganserAuth
import MerganserClient
import TestSupport
import Testing

/// With keys of the test's own, fetched over HTTP.
@Suite struct IDTokenVerifierTests {
    private static let key = try? _RSA.Signing.PrivateKey(keySize: .bits2048)
    private static let otherKey = try? _RSA.Signing.PrivateKey(keySize: .bits2048)

    private let published = Locked<[String: Data]>([:])
    private let server: LocalHTTPServer
    private let issuer: URL

    init() throws {
        server = try LocalHTTPServer { [published] _ in
            let keys = published.withLock { $0 }.sorted { $0.key < $1.key }.map {
                #"{"kty":"RSA","use":"sig","alg":"RS256","kid":"\#($0.key)","n":"\#($0.value.base64URL)","e":"AQAB"}"#
            }
            return .response(body: Array(#"{"keys":[\#(keys.joined(separator: ","))]}"#.utf8))
        }
        issuer = try #require(URL(string: server.url))
        try publish("a", Self.key)
    }

    private func publish(_ kid: String, _ key: _RSA.Signing.PrivateKey?) throws {
        let modulus = try #require(key).publicKey.getKeyPrimitives().modulus
        published.withLock { $0[kid] = modulus }
    }

    private func verifier(_ store: any SecureStore = InMemoryStore()) -> IDTokenVerifier {
        IDTokenVerifier(issuer: issuer, audience: "logi_1", store: store)
    }

    /// - Parameter changed: claims to replace; nil removes one.
    private func token(
        _ changed: [String: Any?] = [:], header: [String: Any] = ["alg": "RS256", "kid": "a", "typ": "JWT"],
        key: _RSA.Signing.PrivateKey? = key
    ) throws -> String {
        let now = Int(Date().timeIntervalSince1970)
        var claims: [String: Any?] = [
            "iss": server.url, "aud": "logi_1", "sub": "17", "canonical_sub": "42", "exp": now + 900, "iat": now,
            "nonce": "n", "at_hash": Data(SHA256.hash(data: Data("access".utf8)).prefix(16)).base64URL,
        ]
        claims.merge(changed) { $1 }
        let signed = try [header, claims.compactMapValues { $0 }].map {
            try JSONSerialization.data(withJSONObject: $0).base64URL
        }.joined(separator: ".")
        let signature = try #require(key).signature(
            for: SHA256.hash(data: Data(signed.utf8)), padding: .insecurePKCS1v1_5)
        return "\(signed).\(signature.rawRepresentation.base64URL)"
    }

    private func fault(_ token: String, nonce: String? = "n") async throws -> IDTokenFault? {
        do {
            _ = try await verifier().verify(token, accessToken: "access", nonce: nonce)
            return nil
        } catch MerganserError.invalidIDToken(let fault) {
            return fault
        }
    }

    @Test func aSoundTokenIsBelieved() async throws {
        let claims = try await verifier().verify(token(), accessToken: "access", nonce: "n")
        #expect(claims.sub == "17" && claims.effectiveSub == "42")
    }

    @Test func othersAreNot() async throws {
        let now = Int(Date().timeIntervalSince1970)
        #expect(try await fault(token(["iss": "https://other.example"])) == .wrongIssuer)
        #expect(try await fault(token(["aud": "logi_2"])) == .wrongAudience)
        #expect(try await fault(token(["aud": ["logi_1"]])) == .malformed)
        #expect(try await fault(token(["nonce": "m"])) == .wrongNonce)
        #expect(try await fault(token(["nonce": nil])) == .wrongNonce)
        #expect(try await fault(token(), nonce: nil) == .wrongNonce)
        #expect(try await fault(token(["at_hash": "AAAA"])) == .wrongAccessToken)
        #expect(try await fault(token(["at_hash": nil])) == .wrongAccessToken)
        #expect(try await fault(token(["exp": now - 61, "iat": now - 961])) == .expired)
        #expect(try await fault(token(["exp": nil])) == .malformed)
        #expect(try await fault(token(["iat": now + 3600, "exp": now + 4500])) == .notYetValid)
        #expect(try await fault(token(["sub": nil])) == .malformed)
        #expect(try await fault(token(key: Self.otherKey)) == .badSignature)
        #expect(try await fault(token(header: ["alg": "none", "kid": "a"])) == .unsupportedAlgorithm)
        #expect(try await fault(token(header: ["alg": "HS256", "kid": "a"])) == .unsupportedAlgorithm)
        #expect(try await fault(token(header: ["alg": "RS256", "kid": "a", "crit": ["x"]])) == .unsupportedAlgorithm)
        #expect(try await fault(token(header: ["alg": "RS256"])) == .unknownKey)
        #expect(try await fault("a.b") == .malformed)
        #expect(try await fault(token() + "=") == .malformed)
    }

    /// A refresh whose answer was lost is answered again up to a day later, with the token of then.
    @Test func aTokenIsJudgedByTheTimeOfItsRequest() async throws {
        let hourAgo = Date() - 3600
        let token = try token([
            "exp": Int(hourAgo.timeIntervalSince1970) + 900, "iat": Int(hourAgo.timeIntervalSince1970),
        ])
        #expect(try await fault(token) == .expired)
        _ = try await verifier().verify(token, nonce: "n", at: hourAgo)
    }

    @Test func keysAreFetchedOnceAndKept() async throws {
        let store = InMemoryStore()
        for _ in 0..<2 {
            let verifier = verifier(store)
            for _ in 0..<3 { _ = try await verifier.verify(token(), nonce: "n") }
        }
        #expect(server.requests.count == 1)
    }

    /// Whoever sends tokens with names of no key cannot have the server asked each time.
    @Test func unknownKeysAreAskedForNowAndThen() async throws {
        let clock = TestDeviceClock()
        let verifier = IDTokenVerifier(issuer: issuer, audience: "logi_1", store: InMemoryStore(), clock: clock)
        let unknown = try (0..<8).map { try token(header: ["alg": "RS256", "kid": "unknown\($0)"]) }
        await withTaskGroup { group in
            for token in unknown {
                group.addTask {
                    await #expect(throws: MerganserError.invalidIDToken(.unknownKey)) {
                        try await verifier.verify(token)
                    }
                }
            }
        }
        #expect(server.requests.count == 1)
        clock.advance(by: .seconds(31))
        _ = try? await verifier.verify(unknown[0])
        #expect(server.requests.count == 2)
    }

    @Test func anUnknownKeyIsAskedForOnce() async throws {
        let verifier = verifier()
        _ = try await verifier.verify(token(), nonce: "n")
        try publish("b", Self.otherKey)
        let rotated = try token(header: ["alg": "RS256", "kid": "b"], key: Self.otherKey)
        _ = try await verifier.verify(rotated, nonce: "n")
        #expect(server.requests.count == 2)
        let unknown = try token(header: ["alg": "RS256", "kid": "c"])
        await #expect(throws: MerganserError.invalidIDToken(.unknownKey)) { try await verifier.verify(unknown) }
        #expect(server.requests.count == 3)
    }
}
