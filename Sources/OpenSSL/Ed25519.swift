internal import COpenSSL

/// A public key that verifies Ed25519 signatures (RFC 8032 §5.1).
package final class Ed25519PublicKey: Sendable {
    package static let size = 32
    package static let signatureSize = 64

    private let handle: KeyHandle

    /// - Parameter raw: 32 bytes, as RFC 8032 §5.1.5 encodes a point.
    /// - Throws: also if they encode none, and for the few points that verify signatures which nobody made.
    package convenience init(raw: [UInt8]) throws(OpenSSLError) {
        guard raw.count == Self.size else { throw OpenSSLError(refused: "an Ed25519 key that has not 32 bytes") }
        guard Ed25519Point.isEncoding(raw) else { throw OpenSSLError(refused: "an Ed25519 key that is no point") }
        try self.init(registered: raw)
    }

    /// Of a key that `init(raw:)` has accepted before. Whether it encodes a point would take a tenth as long as a verification, which
    /// finds that out, too.
    ///
    /// - Throws: for the few points that verify signatures which nobody made.
    package init(registered raw: [UInt8]) throws(OpenSSLError) {
        guard raw.count == Self.size else { throw OpenSSLError(refused: "an Ed25519 key that has not 32 bytes") }
        // The last bit is the sign of the other coordinate.
        guard !Self.ofSmallOrder.contains(raw.dropLast() + [raw[31] & 0x7F]) else {
            throw OpenSSLError(refused: "an Ed25519 key of small order")
        }
        forgetEarlierErrors()
        handle = KeyHandle(
            takingOwnershipOf: try check(
                EVP_PKEY_new_raw_public_key_ex(nil, "ED25519", nil, raw, raw.count), "EVP_PKEY_new_raw_public_key_ex"))
    }

    /// Whether the key's owner signed the message. False for a signature that has not 64 bytes.
    package func verify(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        signature.count == Self.signatureSize && handle.verify(signature, of: message, digest: nil)
    }

    /// What libcrypto 3.0 decodes to the points of order 1 to 8, without the sign: it reduces numbers that are not below the field's
    /// order. With a key whose order divides 8, R = S·B verifies any message (RFC 8032 §8.8), and libcrypto accepts it.
    private static let ofSmallOrder: Set<[UInt8]> = Set(
        [
            "0100000000000000000000000000000000000000000000000000000000000000",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "0000000000000000000000000000000000000000000000000000000000000000",
            "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        ].map(bytes))

    private static func bytes(_ digits: String) -> [UInt8] {
        let digits = Array(digits.utf8).map { $0 < 0x3A ? $0 - 0x30 : $0 - 0x57 }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}

/// A key that makes Ed25519 signatures, as agents do.
package final class Ed25519PrivateKey: Sendable {
    private let handle: KeyHandle
    /// 32 bytes.
    package let publicKey: [UInt8]

    /// - Parameter seed: the 32 bytes that RFC 8032 §5.1.5 calls the private key.
    package init(seed: [UInt8] = randomBytes(32)) throws(OpenSSLError) {
        forgetEarlierErrors()
        let pointer = try check(
            EVP_PKEY_new_raw_private_key_ex(nil, "ED25519", nil, seed, seed.count), "EVP_PKEY_new_raw_private_key_ex")
        handle = KeyHandle(takingOwnershipOf: pointer)
        var count = Ed25519PublicKey.size
        var raw = [UInt8](repeating: 0, count: count)
        try check(EVP_PKEY_get_raw_public_key(pointer, &raw, &count), "EVP_PKEY_get_raw_public_key")
        publicKey = raw
    }

    /// 64 bytes.
    package func sign(_ message: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        try handle.sign(message, digest: nil)
    }
}
