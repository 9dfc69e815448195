import Testing
import Text

/// A JWK, as text, and whether tokens are verified with it.
struct KeyVector: CustomTestStringConvertible, Sendable {
    let id: String
    let comment: String
    let flags: [Flag]
    let isUsable: Bool
    /// Nothing but one key.
    let json: String

    init(_ id: String, _ comment: String, _ flags: [Flag], isUsable: Bool = false, _ json: String) {
        self.id = id
        self.comment = comment
        self.flags = flags
        self.isUsable = isUsable
        self.json = json
    }

    var testDescription: String { "\(id): \(comment)" }

    static let all: [KeyVector] = rsa + ellipticCurves + otherTypes + purposes

    // MARK: Making keys

    /// A good RSA key with some members replaced, by text that may be any.
    static func rsa(n: String = RFC7515.rsaModulus, e: String = "AQAB", more: String = "") -> String {
        "{\"kty\":\"RSA\",\"kid\":\"a\",\"n\":\"\(n)\",\"e\":\"\(e)\"\(more)}"
    }

    static func p256(x: String = RFC7515.x, y: String = RFC7515.y, more: String = "") -> String {
        "{\"kty\":\"EC\",\"kid\":\"a\",\"crv\":\"P-256\",\"x\":\"\(x)\",\"y\":\"\(y)\"\(more)}"
    }

    static let modulus = Base64URL.decode(RFC7515.rsaModulus) ?? []
    static let x = Base64URL.decode(RFC7515.x) ?? []
    static let y = Base64URL.decode(RFC7515.y) ?? []
}
