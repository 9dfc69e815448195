import JOSE
import OpenSSL
import TestSupport
import Testing
import Text

/// A token, made for the occasion with real keys, and what is to be said of it.
struct TokenVector: CustomTestStringConvertible, Sendable {
    enum Verdict: Equatable {
        case verified
        case refused(JOSEError)
    }

    let id: String
    let comment: String
    let flags: [Flag]
    let verdict: Verdict
    let token: @Sendable () throws -> String

    init(
        _ id: String, _ comment: String, _ flags: [Flag], _ verdict: Verdict,
        _ token: @escaping @Sendable () throws -> String
    ) {
        self.id = id
        self.comment = comment
        self.flags = flags
        self.verdict = verdict
        self.token = token
    }

    var testDescription: String { "\(id): \(comment)" }

    /// The keys it is verified with: `rsa` and `p256`, and one of either type by the name of `both`.
    static let keySet = KeySet([
        TestIssuer.rsa.jwk, TestIssuer.p256.jwk, JWK(keyID: "both", key: TestIssuer.otherKey.publicKey),
        JWK(keyID: "both", key: TestIssuer.ellipticCurveKey.publicKey),
    ])

    static let all: [TokenVector] = [headers, keyChoices, encodings, rs256, es256].flatMap(\.self)

    // MARK: Making tokens

    static let rsaHeader = #"{"alg":"RS256","kid":"rsa"}"#
    static let p256Header = #"{"alg":"ES256","kid":"p256"}"#

    /// Signed over the texts as they are.
    static func signed(_ header: String, _ payload: String = "{}", by key: PrivateKey = TestIssuer.key) throws -> String
    {
        let input = signingInput(header, payload)
        return input + "." + Base64URL.encode(try key.sign(Array(input.utf8)))
    }

    /// With a signature made of the signing input.
    static func token(_ header: String, _ sign: ([UInt8]) throws -> [UInt8]) rethrows -> String {
        let input = signingInput(header, "{}")
        return input + "." + Base64URL.encode(try sign(Array(input.utf8)))
    }

    private static func signingInput(_ header: String, _ payload: String) -> String {
        Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(payload.utf8))
    }
}
