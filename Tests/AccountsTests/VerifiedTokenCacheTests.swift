import JOSE
import JSON
import TestSupport
import Testing
import Text

@testable import Accounts

/// The cache of verified access tokens (accounts §2.7).
@Suite struct VerifiedTokenCacheTests {
    private let tokens = VerifiedTokenCache(KeySet([TestIssuer.p256.jwk]), limit: 4)

    private func token(_ number: UInt8, signedBy signer: Signer = TestIssuer.p256) throws -> String {
        let claims: JSONValue = [
            "iss": "https://id.example", "client_id": "logi_1", "scope": "openid email", "iat": 1, "exp": 901,
            "jti": .string(Base64URL.encode([UInt8](repeating: number, count: 24))),
        ]
        return try signer.sign(claims, type: "at+jwt")
    }

    @Test func everyTokenIsFoundHoweverManyCome() throws {
        let texts = try (0..<20).map { try token($0) }
        for _ in 0..<2 {
            for (number, text) in texts.enumerated() {
                let found = try #require(tokens.token(text))
                #expect(found.id == [UInt8](repeating: UInt8(number), count: 24))
                #expect(found.scopes == Scopes("openid email"))
                #expect(tokens.count <= 8)
            }
        }
        #expect(tokens.count > 4)
    }

    @Test func aTokenIsRememberedOnce() throws {
        let text = try token(1)
        for _ in 0..<3 { #expect(tokens.token(text) != nil) }
        #expect(tokens.count == 1)
    }

    @Test func whatNobodySignedIsNotRemembered() throws {
        let text = try token(1)
        #expect(tokens.token(text) != nil)
        #expect(tokens.token(try token(2, signedBy: TestIssuer.rsa)) == nil)
        #expect(tokens.token(text + "A") == nil)
        #expect(tokens.token(try TestIssuer.p256.sign([:] as JSONValue)) == nil)
        #expect(tokens.count == 1)
    }
}
