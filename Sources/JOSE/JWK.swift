internal import JSON
package import OpenSSL
internal import Text

/// A public key that verifies signatures, with its key id (RFC 7517).
package struct JWK: Sendable {
    /// `kid`
    package let keyID: String
    package let key: PublicKey

    package var algorithm: Algorithm { Algorithm(key.kind) }

    package init(keyID: String, key: PublicKey) {
        self.keyID = keyID
        self.key = key
    }

    /// - Returns: nil for a key that cannot verify tokens: because it has no `kid`, is for another use or algorithm, is
    ///   neither RSA of 2048 to 8192 bits nor P-256, or is malformed.
    init?(_ members: JSONValue) {
        guard let keyID = members["kid"]?.string, Self.isForVerifying(members) else { return nil }
        func number(_ name: String) -> [UInt8]? { members[name]?.string.flatMap(Base64URL.decode) }
        var key: PublicKey?
        switch members["kty"] {
        case "RSA":
            guard let modulus = number("n"), let exponent = number("e") else { return nil }
            key = try? PublicKey(rsaModulus: modulus, exponent: exponent)
        case "EC":
            guard members["crv"] == "P-256", let x = number("x"), let y = number("y") else { return nil }
            key = try? PublicKey(p256X: x, y: y)
        default: return nil
        }
        guard let key, members["alg"].map({ $0.string == Algorithm(key.kind).rawValue }) ?? true else { return nil }
        self.init(keyID: keyID, key: key)
    }

    /// Whether the key may verify signatures (RFC 7517 §4.2, §4.3). Operations must not be repeated, and must not
    /// contradict the key's use.
    private static func isForVerifying(_ members: JSONValue) -> Bool {
        let use = members["use"]
        guard use == nil || use == "sig" else { return false }
        guard let operations = members["key_ops"] else { return true }
        guard let values = operations.array, values.contains("verify") else { return false }
        let names = values.compactMap(\.string)
        return names.count == values.count && Set(names).count == names.count
            && (use == nil || Set(names).isSubset(of: ["sign", "verify"]))
    }
}

extension JWK: Encodable {
    private enum CodingKeys: String, CodingKey {
        case kty, use, alg, kid, n, e, crv, x, y
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        func encode(_ value: String, _ key: CodingKeys) throws { try container.encode(value, forKey: key) }
        let components = key.components
        switch components {
        case .rsa: try encode("RSA", .kty)
        case .p256: try encode("EC", .kty)
        }
        try encode("sig", .use)
        try encode(algorithm.rawValue, .alg)
        try encode(keyID, .kid)
        switch components {
        case .rsa(let modulus, let exponent):
            try encode(Base64URL.encode(modulus), .n)
            try encode(Base64URL.encode(exponent), .e)
        case .p256(let x, let y):
            try encode("P-256", .crv)
            try encode(Base64URL.encode(x), .x)
            try encode(Base64URL.encode(y), .y)
        }
    }
}
