internal import COpenSSL

/// A key that verifies signatures: RSA or P-256. Building a key costs more than a verification, so keep it.
package final class PublicKey: Sendable {
    private let handle: KeyHandle
    package let kind: KeyKind

    init(_ handle: KeyHandle, _ kind: KeyKind) {
        self.handle = handle
        self.kind = kind
    }

    /// - Parameters:
    ///   - rsaModulus: big-endian, odd, 2048 to 8192 bit.
    ///   - exponent: big-endian, odd, at least 3 and at most 64 bit.
    package convenience init(rsaModulus: [UInt8], exponent: [UInt8]) throws(OpenSSLError) {
        let modulus = Array(rsaModulus.drop { $0 == 0 })
        let exponent = Array(exponent.drop { $0 == 0 })
        let bits = modulus.count * 8 - (modulus.first?.leadingZeroBitCount ?? 0)
        // EVP_PKEY_fromdata accepts any numbers as an RSA key.
        guard (2048...8192).contains(bits) else { throw OpenSSLError(refused: "an RSA modulus of \(bits) bit") }
        guard modulus.last.map({ $0 & 1 }) == 1 else { throw OpenSSLError(refused: "an even RSA modulus") }
        guard (1...8).contains(exponent.count), exponent.last.map({ $0 & 1 }) == 1, exponent != [1] else {
            throw OpenSSLError(refused: "an RSA exponent that is even, 1 or longer than 64 bit")
        }
        let parameters = Parameters()
        parameters.append(OSSL_PKEY_PARAM_RSA_N, number: modulus)
        parameters.append(OSSL_PKEY_PARAM_RSA_E, number: exponent)
        self.init(try KeyHandle(publicKey: Name.rsa, parameters), .rsa(bits: bits))
    }

    /// - Parameters:
    ///   - p256X: 32 bytes, big-endian.
    ///   - y: 32 bytes, big-endian. A point that is not on the curve is refused.
    package convenience init(p256X: [UInt8], y: [UInt8]) throws(OpenSSLError) {
        guard p256X.count == 32, y.count == 32 else {
            throw OpenSSLError(refused: "a P-256 coordinate that has not 32 bytes")
        }
        let parameters = Parameters()
        parameters.append(OSSL_PKEY_PARAM_GROUP_NAME, text: "prime256v1")
        // SEC 1 §2.3.3: 4 begins an uncompressed point. libcrypto checks that it is on the curve.
        parameters.append(OSSL_PKEY_PARAM_PUB_KEY, bytes: [4] + p256X + y)
        self.init(try KeyHandle(publicKey: Name.ec, parameters), .p256)
    }

    /// The numbers that a JWK has (RFC 7518 §6), big-endian: RSA's without leading zeros, coordinates with 32 bytes
    /// each.
    package enum Components: Equatable, Sendable {
        case rsa(modulus: [UInt8], exponent: [UInt8])
        case p256(x: [UInt8], y: [UInt8])
    }

    package var components: Components {
        switch kind {
        case .rsa:
            .rsa(modulus: handle.number(OSSL_PKEY_PARAM_RSA_N), exponent: handle.number(OSSL_PKEY_PARAM_RSA_E))
        case .p256:
            .p256(
                x: handle.number(OSSL_PKEY_PARAM_EC_PUB_X, size: 32),
                y: handle.number(OSSL_PKEY_PARAM_EC_PUB_Y, size: 32))
        }
    }

    /// Checks RSASSA-PKCS1-v1_5 with SHA-256 (RFC 7518 §3.3). Always false if the key is of another kind.
    package func verifyRS256(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        guard case .rsa(let bits) = kind, signature.count == (bits + 7) / 8 else { return false }
        return handle.verify(signature, of: message, digest: Name.sha256)
    }

    /// Checks ECDSA on P-256 with SHA-256 (RFC 7518 §3.4). Always false if the key is of another kind.
    ///
    /// - Parameter signature: r and s, 32 bytes each; the result is false for any other length.
    package func verifyES256(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        guard kind == .p256, let signature = ECDSASignature(raw: signature) else { return false }
        return handle.verify(signature.der, of: message, digest: Name.sha256)
    }
}
