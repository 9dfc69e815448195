internal import JSON
import OpenSSL
internal import Text

/// The parts of a signed token in the compact form (RFC 7515 §7.1, RFC 7519). Do not trust any of them before `verify`.
package struct JWT: Sendable {
    package static let maximumSize = 16_384

    /// The header's `alg`; nil if it is absent or not supported.
    package let algorithm: Algorithm?
    /// The header's `kid`; nil if it is absent or not a string. Keys that the header has or points to (`jwk`, `jku`,
    /// `x5c`, `x5u`) are ignored.
    package let keyID: String?
    /// The header's `typ`; nil if it is absent or not a string.
    package let type: String?
    package let claims: Claims

    private let signingInput: [UInt8]
    private let signature: [UInt8]

    package init(_ token: String) throws(JOSEError) {
        guard token.utf8.count <= Self.maximumSize else { throw .malformed }
        let bytes = Array(token.utf8)
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
            let signature = Base64URL.decode(parts[2]), header["crit"] == nil
        else { throw .malformed }
        algorithm = header["alg"]?.string.flatMap(Algorithm.init)
        keyID = header["kid"]?.string
        type = header["typ"]?.string
        self.claims = Claims(claims)
        signingInput = Array(bytes[..<parts[1].endIndex])
        self.signature = signature
    }

    private static func object(_ part: ArraySlice<UInt8>) -> JSONObject? {
        guard let json = Base64URL.decode(part),
            case .object(let object)? = try? Exact<JSONValue>(json: json).wrappedValue
        else { return nil }
        return object
    }

    /// Checks the signature with the key that the header names. The key decides on the algorithm: the header's
    /// algorithm must be that of a key with this key id.
    package func verify(with keySet: KeySet) throws(JOSEError) {
        guard let algorithm else { throw .unsupportedAlgorithm }
        guard let keyID, keySet[keyID] != nil else { throw .unknownKey }
        guard let jwk = keySet[keyID, algorithm] else { throw .unsupportedAlgorithm }
        let isValid =
            switch jwk.key.kind {
            case .rsa: jwk.key.verifyRS256(signature, of: signingInput)
            case .p256: jwk.key.verifyES256(signature, of: signingInput)
            }
        guard isValid else { throw .badSignature }
    }
}
