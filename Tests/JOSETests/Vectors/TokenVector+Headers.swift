import JOSE
import JSON
import OpenSSL
import TestSupport
import Text

extension TokenVector {
    /// RFC 7515 §4 and §10.7, RFC 7518 §3, RFC 8725 §2.1 and §3.1.
    static let headers: [TokenVector] = algorithms + macs + extensions + repetitions

    /// Signed with the RSA key, whatever the header says.
    private static let algorithms: [TokenVector] =
        [
            TokenVector("alg-own", "the key's own algorithm", [.legitimate], .verified) { try signed(rsaHeader) },
            TokenVector("alg-own-ec", "the same for an elliptic curve", [.legitimate], .verified) {
                try signed(p256Header, by: TestIssuer.ellipticCurveKey)
            },
            TokenVector("alg-other-kind", "ES256 for an RSA key", [.algorithm], .refused(.unsupportedAlgorithm)) {
                try signed(#"{"alg":"ES256","kid":"rsa"}"#)
            },
            TokenVector("alg-other-kind-ec", "RS256 for a P-256 key", [.algorithm], .refused(.unsupportedAlgorithm)) {
                try signed(#"{"alg":"RS256","kid":"p256"}"#, by: TestIssuer.ellipticCurveKey)
            },
            TokenVector("alg-absent", "no alg", [.algorithm], .refused(.unsupportedAlgorithm)) {
                try signed(#"{"kid":"rsa"}"#)
            },
            TokenVector("alg-none-unsigned", "unsecured, no signature", [.algorithm], .refused(.unsupportedAlgorithm)) {
                token(#"{"alg":"none","kid":"rsa"}"#) { _ in [] }
            },
            TokenVector("alg-own-unsigned", "RS256 without a signature", [.algorithm], .refused(.badSignature)) {
                token(rsaHeader) { _ in [] }
            },
            TokenVector("alg-own-unsigned-ec", "ES256 without a signature", [.algorithm], .refused(.badSignature)) {
                token(p256Header) { _ in [] }
            },
        ]
        + [
            "none", "None", "NONE", "nOnE", "", "rs256", "RS256 ", "RS-256", "RS1", "RS384", "RS512", "PS256", "PS512",
            "ES256K", "ES384", "ES512", "EdDSA", "Ed25519", "HS256", "RSA-OAEP", "RSA1_5", "dir", "A256GCM",
            "RS256\\u0000",
        ]
        .map { name in
            TokenVector(
                "alg-is-\(name)", "a signature that is good under another name", [.algorithm],
                .refused(.unsupportedAlgorithm)
            ) { try signed("{\"alg\":\"\(name)\",\"kid\":\"rsa\"}") }
        }
        + ["null", "true", "256", "[\"RS256\"]", "{\"RS256\":1}"].map { value in
            TokenVector("alg-value-\(value)", "alg is no string", [.algorithm], .refused(.unsupportedAlgorithm)) {
                try signed("{\"alg\":\(value),\"kid\":\"rsa\"}")
            }
        }

    /// RFC 8725 §2.1: what everybody knows of an RSA key, taken for the secret of a MAC.
    private static let macs: [TokenVector] = secrets.flatMap { name, secret in
        [("HS256", .unsupportedAlgorithm), ("RS256", .badSignature)].map { (algorithm: String, error: JOSEError) in
            TokenVector(
                "mac-\(name)-\(algorithm)", "an HMAC under public bytes, called \(algorithm)", [.algorithm],
                .refused(error)
            ) { token("{\"alg\":\"\(algorithm)\",\"kid\":\"rsa\"}") { hmacSHA256(key: secret(), $0) } }
        }
    }

    private static let secrets: [(name: String, secret: @Sendable () -> [UInt8])] = [
        ("modulus", { modulus }), ("jwk", { TestIssuer.rsa.jwk.json() }), ("set", { keySet.json() }), ("empty", { [] }),
        ("kid", { Array("rsa".utf8) }),
    ]

    private static var modulus: [UInt8] {
        guard case .rsa(let modulus, _) = TestIssuer.rsa.jwk.key.components else { return [] }
        return modulus
    }

    /// RFC 7515 §4.1.11, RFC 7797.
    private static let extensions: [TokenVector] =
        ["[]", "[\"exp\"]", "[\"b64\"]", "[\"alg\"]", "null", "\"b64\"", "{}", "false"].map { value in
            TokenVector("crit-\(value)", "extensions that must be understood", [.extensions], .refused(.malformed)) {
                try signed("{\"alg\":\"RS256\",\"kid\":\"rsa\",\"crit\":\(value),\"b64\":true,\"exp\":1}")
            }
        } + [
            TokenVector(
                "crit-b64-unencoded", "RFC 7797: the payload as it is", [.extensions, .encoding], .refused(.malformed)
            ) {
                let header = Base64URL.encode(Array(#"{"alg":"RS256","kid":"rsa","b64":false,"crit":["b64"]}"#.utf8))
                let input = header + ".{}"
                return input + "." + Base64URL.encode(try TestIssuer.key.sign(Array(input.utf8)))
            },
            TokenVector("crit-escaped", "crit with an escape in its name", [.extensions], .refused(.malformed)) {
                try signed(#"{"alg":"RS256","kid":"rsa","\u0063rit":["b64"]}"#)
            },
            TokenVector(
                "unknown-members", "what need not be understood is ignored", [.extensions, .legitimate], .verified
            ) { try signed(#"{"alg":"RS256","kid":"rsa","b64":false,"zip":"DEF","enc":"A256GCM","x":{"crit":[]}}"#) },
            TokenVector("typ-other", "types are the caller's to judge", [.legitimate], .verified) {
                try signed(#"{"alg":"RS256","kid":"rsa","typ":7,"cty":"JWT"}"#)
            },
        ]

    /// RFC 7515 §4: repeated names are refused, or the last one counts; here the last, for everybody alike.
    private static let repetitions: [TokenVector] = [
        TokenVector("twice-alg-last-good", "none, then the key's own", [.json, .legitimate], .verified) {
            try signed(#"{"alg":"none","kid":"rsa","alg":"RS256"}"#)
        },
        TokenVector(
            "twice-alg-last-bad", "the key's own, then none", [.json, .algorithm], .refused(.unsupportedAlgorithm)
        ) { try signed(#"{"alg":"RS256","kid":"rsa","alg":"none"}"#) },
        TokenVector("twice-alg-escaped", "the second escaped", [.json, .algorithm], .refused(.unsupportedAlgorithm)) {
            try signed(#"{"alg":"RS256","kid":"rsa","\u0061lg":"none"}"#)
        },
        TokenVector("twice-kid", "another key's name last", [.json, .keyChoice], .refused(.unsupportedAlgorithm)) {
            try signed(#"{"alg":"RS256","kid":"rsa","kid":"p256"}"#)
        },
        TokenVector("nested-alg", "the key's own, a level too deep", [.json], .refused(.unsupportedAlgorithm)) {
            try signed(#"{"a":{"alg":"RS256"},"kid":"rsa"}"#)
        },
        TokenVector("case-alg", "names have one spelling", [.json], .refused(.unsupportedAlgorithm)) {
            try signed(#"{"ALG":"RS256","kid":"rsa"}"#)
        },
    ]
}
