internal import COpenSSL

/// Owns one `EVP_PKEY`.
///
/// Threads may share it, because it never changes after it was made. openssl-threads(7): "Objects are thread-safe as
/// long as the API's being invoked don't modify the object"; a digest context is changed by every call, so each call
/// has its own: "two threads can calculate a signature using two different EVP_PKEY_CTX objects".
final class KeyHandle: @unchecked Sendable {
    let pointer: OpaquePointer

    init(takingOwnershipOf pointer: OpaquePointer) { self.pointer = pointer }

    convenience init(publicKey type: StaticString, _ parameters: Parameters) throws(OpenSSLError) {
        forgetEarlierErrors()
        let context = try check(EVP_PKEY_CTX_new_from_name(nil, type.cString, nil), "EVP_PKEY_CTX_new_from_name")
        defer { EVP_PKEY_CTX_free(context) }
        try check(EVP_PKEY_fromdata_init(context), "EVP_PKEY_fromdata_init")
        var pointer: OpaquePointer?
        let result = parameters.withUnsafePointer {
            EVP_PKEY_fromdata(
                context, &pointer, OSSL_KEYMGMT_SELECT_ALL_PARAMETERS | OSSL_KEYMGMT_SELECT_PUBLIC_KEY, $0)
        }
        try check(result, "EVP_PKEY_fromdata")
        self.init(takingOwnershipOf: try check(pointer, "EVP_PKEY_fromdata"))
    }

    deinit { EVP_PKEY_free(pointer) }

    /// The kind of the key; nil for a key that is neither RSA nor P-256.
    var kind: KeyKind? {
        if EVP_PKEY_is_a(pointer, "RSA") == 1 { return .rsa(bits: Int(EVP_PKEY_get_bits(pointer))) }
        guard EVP_PKEY_is_a(pointer, "EC") == 1 else { return nil }
        var name = [CChar](repeating: 0, count: 32)
        guard EVP_PKEY_get_group_name(pointer, &name, name.count, nil) == 1 else {
            ERR_clear_error()
            return nil
        }
        return name.starts(with: "prime256v1\0".utf8.map(CChar.init(bitPattern:))) ? .p256 : nil
    }

    /// One of the numbers that make up the key, big-endian.
    ///
    /// - Parameter size: how many bytes the result has; nil for as many as the number needs.
    func number(_ parameter: String, size: Int? = nil) -> [UInt8] {
        var number: OpaquePointer?
        require(EVP_PKEY_get_bn_param(pointer, parameter, &number), "EVP_PKEY_get_bn_param")
        defer { BN_free(number) }
        let size = size ?? Int((BN_num_bits(number) + 7) / 8)
        return [UInt8](unsafeUninitializedCapacity: size) { bytes, count in
            precondition(BN_bn2binpad(number, bytes.baseAddress, Int32(size)) == size, "a number of \(size) bytes")
            count = size
        }
    }
}

/// Signatures. Ed25519 takes no digest: it hashes the message itself.
extension KeyHandle {
    func sign(_ message: [UInt8], digest: StaticString?) throws(OpenSSLError) -> [UInt8] {
        forgetEarlierErrors()
        let context = try check(EVP_MD_CTX_new(), "EVP_MD_CTX_new")
        defer { EVP_MD_CTX_free(context) }
        try check(EVP_DigestSignInit_ex(context, nil, digest?.cString, nil, nil, pointer, nil), "EVP_DigestSignInit_ex")
        var count = Int(EVP_PKEY_get_size(pointer))
        var signature = [UInt8](repeating: 0, count: count)
        try check(EVP_DigestSign(context, &signature, &count, message, message.count), "EVP_DigestSign")
        signature.removeSubrange(count...)
        return signature
    }

    func verify(_ signature: [UInt8], of message: [UInt8], digest: StaticString?) -> Bool {
        let context = require(EVP_MD_CTX_new(), "EVP_MD_CTX_new")
        defer { EVP_MD_CTX_free(context) }
        require(
            EVP_DigestVerifyInit_ex(context, nil, digest?.cString, nil, nil, pointer, nil), "EVP_DigestVerifyInit_ex")
        // EVP_DigestVerify(3): 1 is success, 0 a signature that does not match, anything else an error such as a
        // malformed signature.
        if EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1 { return true }
        ERR_clear_error()
        return false
    }
}

/// The kinds of keys that sign tokens.
package enum KeyKind: Equatable, Sendable {
    /// RS256: RSASSA-PKCS1-v1_5 with SHA-256.
    case rsa(bits: Int)
    /// ES256: ECDSA on P-256 with SHA-256.
    case p256
}
