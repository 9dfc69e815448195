import JOSE
import JSON
import OpenSSL
import TestSupport
import Testing
import Text

@Suite struct JWTTests {
    private func bytes(_ text: String) throws -> [UInt8] { try #require(Base64URL.decode(text)) }

    private func key(_ keyID: String, _ keySet: String) throws -> PublicKey {
        let keySet = try #require(KeySet(json: Array(keySet.utf8)))
        return try #require(keySet[keyID]).key
    }

    // MARK: RFC 7515, RFC 7520

    @Test func macIsNoSignature() throws {
        let jwt = try JWT(RFC7515.mac)
        #expect(jwt.algorithm == nil)
        #expect(jwt.type == "JWT")
        #expect(throws: JOSEError.unsupportedAlgorithm) { try jwt.verify(with: keySet7515()) }
    }

    @Test func unsecuredTokenIsRefused() throws {
        #expect(throws: JOSEError.unsupportedAlgorithm) { try JWT(RFC7515.unsecured).verify(with: keySet7515()) }
    }

    private func keySet7515() throws -> KeySet { try #require(KeySet(json: Array(RFC7515.keySet.utf8))) }

    @Test func rs256ExampleVerifies() throws {
        let key = try key("A.2", RFC7515.keySet)
        let message = Array("\(RFC7515.rsaHeader).\(RFC7515.payload)".utf8)
        #expect(key.kind == .rsa(bits: 2048))
        #expect(try key.verifyRS256(bytes(RFC7515.rsaSignature), of: message))
        #expect(try !key.verifyRS256(bytes(RFC7515.rsaSignature), of: message + [0]))
        #expect(try !key.verifyES256(bytes(RFC7515.rsaSignature), of: message))
    }

    @Test func rs256ExampleIsSignedAlike() throws {
        let key = try PrivateKey(pem: RFC7515.rsaPEM)
        let signature = try key.sign(Array("\(RFC7515.rsaHeader).\(RFC7515.payload)".utf8))
        #expect(Base64URL.encode(signature) == RFC7515.rsaSignature)
        #expect(key.pem == RFC7515.rsaPEM)
    }

    @Test func es256ExampleVerifies() throws {
        let key = try key("A.3", RFC7515.keySet)
        let message = Array("\(RFC7515.ecdsaHeader).\(RFC7515.payload)".utf8)
        #expect(key.kind == .p256)
        #expect(try key.verifyES256(bytes(RFC7515.ecdsaSignature), of: message))
        #expect(try !key.verifyES256(bytes(RFC7515.ecdsaSignature), of: message + [0]))
        #expect(try !key.verifyRS256(bytes(RFC7515.ecdsaSignature), of: message))
    }

    @Test func exampleWithoutKeyNameIsRefused() throws {
        let jwt = try JWT("\(RFC7515.rsaHeader).\(RFC7515.payload).\(RFC7515.rsaSignature)")
        #expect(jwt.claims.issuer == "joe")
        #expect(jwt.claims.numericDate("exp") == 1_300_819_380)
        #expect(jwt.claims["http://example.com/is_root"] == true)
        #expect(throws: JOSEError.unknownKey) { try jwt.verify(with: keySet7515()) }
    }

    @Test func cookbookExampleVerifies() throws {
        // Of the two keys of one name the other is of a kind that is not spoken.
        let key = try key("bilbo.baggins@hobbiton.example", RFC7520.keySet)
        #expect(
            try key.verifyRS256(bytes(RFC7520.signature), of: Array("\(RFC7520.header).\(RFC7520.payload)".utf8)))
        #expect(throws: JOSEError.malformed) {
            try JWT("\(RFC7520.header).\(RFC7520.payload).\(RFC7520.signature)")
        }
    }

    // MARK: Signing

    @Test(arguments: [TestIssuer.rsa, TestIssuer.p256])
    func signedTokenVerifies(signer: Signer) throws {
        struct Payload: Encodable {
            var iss: String
            var aud: [String]
        }
        let token = try signer.sign(Payload(iss: "https://example.com", aud: ["a", "b"]), type: "at+jwt")
        let header = try #require(Base64URL.decode(String(token.prefix { $0 != "." })))
        #expect(
            String(decoding: header, as: UTF8.self)
                == #"{"alg":"\#(signer.jwk.algorithm.rawValue)","kid":"\#(signer.keyID)","typ":"at+jwt"}"#)
        let jwt = try JWT(token)
        #expect(jwt.algorithm == signer.jwk.algorithm)
        #expect(jwt.keyID == signer.keyID)
        #expect(jwt.type == "at+jwt")
        #expect(jwt.claims.audience == ["a", "b"])
        try jwt.verify(with: KeySet([signer.jwk]))
        #expect(throws: JOSEError.unknownKey) { try jwt.verify(with: KeySet([])) }
        let namesake = JWK(keyID: signer.keyID, key: TestIssuer.otherKey.publicKey)
        #expect(throws: (any Error).self) { try jwt.verify(with: KeySet([namesake])) }
    }

    // MARK: Claims

    @Test func claimsOfOtherTypesAreAbsent() throws {
        let claims = Claims(JSONObject([("iss", 1), ("sub", ["a"]), ("azp", .null), ("exp", "1"), ("iat", true)]))
        #expect(claims.issuer == nil)
        #expect(claims.subject == nil)
        #expect(claims.authorizedParty == nil)
        #expect(claims.audience == nil)
        #expect(claims.numericDate("exp") == nil)
        #expect(claims.numericDate("iat") == nil)
    }

    @Test(
        arguments: [
            ("a", ["a"]), (["a", "b"], ["a", "b"]), ([], []), (["a", 1], nil), (1, nil), (.null, nil),
            (["a": "b"], nil),
        ] as [(JSONValue, [String]?)])
    func audienceIsAStringOrStrings(value: JSONValue, audience: [String]?) {
        #expect(Claims(JSONObject([("aud", value)])).audience == audience)
    }
}
