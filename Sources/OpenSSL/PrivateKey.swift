internal import COpenSSL

/// A key that signs: RSA or P-256.
package final class PrivateKey: Sendable {
    private let handle: KeyHandle
    package let publicKey: PublicKey

    package var kind: KeyKind { publicKey.kind }

    private init(_ handle: KeyHandle) throws(OpenSSLError) {
        guard let kind = handle.kind else { throw OpenSSLError(refused: "a key that is neither RSA nor P-256") }
        if case .rsa(let bits) = kind, !(2048...8192).contains(bits) {
            throw OpenSSLError(refused: "an RSA key of \(bits) bit")
        }
        self.handle = handle
        publicKey = PublicKey(handle, kind)
    }

    /// - Parameter pem: an unencrypted `PRIVATE KEY` (PKCS #8), or OpenSSL's older forms of one.
    package convenience init(pem: String) throws(OpenSSLError) {
        var pointer: OpaquePointer?
        let decoder = try check(
            OSSL_DECODER_CTX_new_for_pkey(
                &pointer, "PEM", nil, nil, OSSL_KEYMGMT_SELECT_PRIVATE_KEY, nil, nil),
            "OSSL_DECODER_CTX_new_for_pkey")
        defer { OSSL_DECODER_CTX_free(decoder) }
        let bytes = Array(pem.utf8)
        let result = bytes.withUnsafeBufferPointer { buffer in
            var start = buffer.baseAddress
            var count = buffer.count
            return OSSL_DECODER_from_data(decoder, &start, &count)
        }
        try check(result, "OSSL_DECODER_from_data")
        try self.init(KeyHandle(takingOwnershipOf: try check(pointer, "OSSL_DECODER_from_data")))
    }

    /// - Parameter bits: 2048 to 8192.
    package static func generateRSA(bits: Int = 2048) throws(OpenSSLError) -> PrivateKey {
        try generate("RSA") { context in EVP_PKEY_CTX_set_rsa_keygen_bits(context, Int32(bits)) }
    }

    package static func generateP256() throws(OpenSSLError) -> PrivateKey {
        try generate("EC") { context in EVP_PKEY_CTX_set_group_name(context, "prime256v1") }
    }

    private static func generate(
        _ type: String, configure: (OpaquePointer) -> Int32
    ) throws(OpenSSLError) -> PrivateKey {
        let context = try check(EVP_PKEY_CTX_new_from_name(nil, type, nil), "EVP_PKEY_CTX_new_from_name")
        defer { EVP_PKEY_CTX_free(context) }
        try check(EVP_PKEY_keygen_init(context), "EVP_PKEY_keygen_init")
        try check(configure(context), "EVP_PKEY_CTX_set_params")
        var pointer: OpaquePointer?
        try check(EVP_PKEY_generate(context, &pointer), "EVP_PKEY_generate")
        return try PrivateKey(KeyHandle(takingOwnershipOf: try check(pointer, "EVP_PKEY_generate")))
    }

    /// The key as an unencrypted `PRIVATE KEY` (PKCS #8).
    package var pem: String {
        let encoder = require(
            OSSL_ENCODER_CTX_new_for_pkey(
                handle.pointer, OSSL_KEYMGMT_SELECT_ALL, "PEM", "PrivateKeyInfo", nil),
            "OSSL_ENCODER_CTX_new_for_pkey")
        defer { OSSL_ENCODER_CTX_free(encoder) }
        var data: UnsafeMutablePointer<UInt8>?
        var count = 0
        require(OSSL_ENCODER_to_data(encoder, &data, &count), "OSSL_ENCODER_to_data")
        defer { CRYPTO_clear_free(data, count, #file, #line) }
        return String(decoding: UnsafeBufferPointer(start: data, count: count), as: UTF8.self)
    }

    /// RS256 with an RSA key; ES256 with a P-256 key, as r and s of 32 bytes each (RFC 7518 §3.3, §3.4).
    package func sign(_ message: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        let context = try check(EVP_MD_CTX_new(), "EVP_MD_CTX_new")
        defer { EVP_MD_CTX_free(context) }
        try check(
            EVP_DigestSignInit_ex(context, nil, "SHA256", nil, nil, handle.pointer, nil), "EVP_DigestSignInit_ex")
        var count = Int(EVP_PKEY_get_size(handle.pointer))
        var signature = [UInt8](repeating: 0, count: count)
        try check(EVP_DigestSign(context, &signature, &count, message, message.count), "EVP_DigestSign")
        signature.removeSubrange(count...)
        guard kind == .p256 else { return signature }
        guard let converted = ECDSASignature(der: signature) else { throw OpenSSLError(refused: "its own signature") }
        return converted.raw
    }
}
