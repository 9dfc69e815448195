internal import COpenSSL

/// A key that makes signatures: RSA or P-256.
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

    /// - Parameter pem: an unencrypted `PRIVATE KEY` (PKCS #8), or one of OpenSSL's older forms.
    package convenience init(pem: String) throws(OpenSSLError) {
        forgetEarlierErrors()
        // A memory BIO needs an address, even for no bytes.
        let bytes = Array(pem.utf8) + [0]
        let pointer = bytes.withUnsafeBytes { bytes in
            let bio = require(BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count - 1)), "BIO_new_mem_buf")
            defer { BIO_free(bio) }
            // Without a callback, libcrypto would ask on the terminal for the passphrase of an encrypted key.
            return PEM_read_bio_PrivateKey(bio, nil, { _, _, _, _ in -1 }, nil)
        }
        try self.init(KeyHandle(takingOwnershipOf: try check(pointer, "PEM_read_bio_PrivateKey")))
    }

    /// - Parameter bits: 2048 to 8192.
    package static func generateRSA(bits: Int = 2048) throws(OpenSSLError) -> PrivateKey {
        try generate(Name.rsa) { context in EVP_PKEY_CTX_set_rsa_keygen_bits(context, Int32(bits)) }
    }

    package static func generateP256() throws(OpenSSLError) -> PrivateKey {
        try generate(Name.ec) { context in EVP_PKEY_CTX_set_group_name(context, "prime256v1") }
    }

    private static func generate(
        _ type: StaticString, configure: (OpaquePointer) -> Int32
    ) throws(OpenSSLError) -> PrivateKey {
        forgetEarlierErrors()
        let context = try check(EVP_PKEY_CTX_new_from_name(nil, type.cString, nil), "EVP_PKEY_CTX_new_from_name")
        defer { EVP_PKEY_CTX_free(context) }
        try check(EVP_PKEY_keygen_init(context), "EVP_PKEY_keygen_init")
        try check(configure(context), "EVP_PKEY_CTX_set_params")
        var pointer: OpaquePointer?
        try check(EVP_PKEY_generate(context, &pointer), "EVP_PKEY_generate")
        return try PrivateKey(KeyHandle(takingOwnershipOf: try check(pointer, "EVP_PKEY_generate")))
    }

    /// The key as an unencrypted `PRIVATE KEY` (PKCS #8).
    package var pem: String {
        let bio = require(BIO_new(BIO_s_mem()), "BIO_new")
        defer { BIO_free(bio) }
        require(
            PEM_write_bio_PKCS8PrivateKey(bio, handle.pointer, nil, nil, 0, nil, nil), "PEM_write_bio_PKCS8PrivateKey")
        var bytes = [UInt8](repeating: 0, count: BIO_ctrl_pending(bio))
        precondition(BIO_read(bio, &bytes, Int32(bytes.count)) == bytes.count, "a memory BIO gives what it holds")
        return String(decoding: bytes, as: UTF8.self)
    }

    /// An RS256 signature with an RSA key; with a P-256 key an ES256 signature, r and s of 32 bytes each (RFC 7518
    /// §3.3, §3.4).
    package func sign(_ message: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        let signature = try handle.sign(message, digest: Name.sha256)
        guard kind == .p256 else { return signature }
        guard let converted = ECDSASignature(der: signature) else { throw OpenSSLError(refused: "its own signature") }
        return converted.raw
    }
}
