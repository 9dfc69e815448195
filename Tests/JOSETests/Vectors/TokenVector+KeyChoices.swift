import JOSE
import JSON
import OpenSSL
import TestSupport

extension TokenVector {
    /// RFC 7515 §4.1.2 to §4.1.8 and §6, RFC 8725 §3.10: which key is meant, and who says so.
    static let keyChoices: [TokenVector] = names + sharedName + broughtAlong

    private static let names: [TokenVector] =
        [
            "null", "1", "true", "[\"rsa\"]", "{}", "\"\"", "\"RSA\"", "\" rsa\"", "\"rsa \"", "\"rsa\\u0000\"",
            "\"../rsa\"", "\"rsa' OR '1'='1\"", "\"r\u{FF53}a\"", "\"rsa-2\"",
        ]
        .map { value in
            TokenVector("kid-\(value)", "no name of a key", [.keyChoice], .refused(.unknownKey)) {
                try signed("{\"alg\":\"RS256\",\"kid\":\(value)}")
            }
        } + [
            TokenVector("kid-absent", "one of two keys, not named", [.keyChoice], .refused(.unknownKey)) {
                try signed(#"{"alg":"RS256"}"#)
            },
            TokenVector(
                "kid-other-signer", "the name of one key, signed with another", [.keyChoice], .refused(.badSignature)
            ) { try signed(rsaHeader, by: TestIssuer.otherKey) },
            TokenVector("kid-escaped", "the name written with escapes", [.json, .legitimate], .verified) {
                try signed(#"{"alg":"RS256","kid":"\u0072\u0073\u0061"}"#)
            },
        ]

    /// RFC 7517 §4.5: `alg` says which of the keys of one name is meant, and that key signed.
    private static let sharedName: [TokenVector] = [
        TokenVector("kid-shared-rsa", "the RSA key of two", [.keyChoice, .legitimate], .verified) {
            try signed(#"{"alg":"RS256","kid":"both"}"#, by: TestIssuer.otherKey)
        },
        TokenVector("kid-shared-p256", "the P-256 key of two", [.keyChoice, .legitimate], .verified) {
            try signed(#"{"alg":"ES256","kid":"both"}"#, by: TestIssuer.ellipticCurveKey)
        },
        TokenVector("kid-shared-swapped", "signed with the other of two", [.keyChoice], .refused(.badSignature)) {
            try signed(#"{"alg":"RS256","kid":"both"}"#, by: TestIssuer.ellipticCurveKey)
        },
        TokenVector("kid-shared-swapped-p256", "signed with the other of two", [.keyChoice], .refused(.badSignature)) {
            try signed(#"{"alg":"ES256","kid":"both"}"#, by: TestIssuer.otherKey)
        },
        TokenVector("kid-shared-stranger", "signed with neither of two", [.keyChoice], .refused(.badSignature)) {
            try signed(#"{"alg":"RS256","kid":"both"}"#)
        },
        TokenVector("kid-shared-hs256", "for neither of two", [.algorithm], .refused(.unsupportedAlgorithm)) {
            try signed(#"{"alg":"HS256","kid":"both"}"#)
        },
    ]

    /// An attacker signs, and says with which key to check that.
    private static let broughtAlong: [TokenVector] = members.flatMap { id, name, value in
        [
            TokenVector("\(id)-named", "with the name of a known key", [.keyChoice], .refused(.badSignature)) {
                try signed("{\"alg\":\"RS256\",\"kid\":\"rsa\",\"\(name)\":\(value())}", by: TestIssuer.otherKey)
            },
            TokenVector("\(id)-alone", "without a name", [.keyChoice], .refused(.unknownKey)) {
                try signed("{\"alg\":\"RS256\",\"\(name)\":\(value())}", by: TestIssuer.otherKey)
            },
            TokenVector("\(id)-ignored", "the known key signs all the same", [.keyChoice, .legitimate], .verified) {
                try signed("{\"alg\":\"RS256\",\"kid\":\"rsa\",\"\(name)\":\(value())}")
            },
        ]
    }

    private static let members: [(id: String, name: String, value: @Sendable () -> String)] = [
        ("jwk", "jwk", { jwk("rsa-2") }), ("jwk-same-name", "jwk", { jwk("rsa") }),
        ("jku", "jku", { "\"https://attacker.example/keys\"" }),
        ("x5u", "x5u", { "\"https://attacker.example/chain\"" }), ("x5c", "x5c", { "[\"MIIB\"]" }),
        ("x5t", "x5t", { "\"AAAAAAAAAAAAAAAAAAAAAAAAAAA\"" }), ("x5t256", "x5t#S256", { "\"AA\"" }),
    ]

    private static func jwk(_ keyID: String) -> String {
        String(decoding: JWK(keyID: keyID, key: TestIssuer.otherKey.publicKey).json(), as: UTF8.self)
    }
}
