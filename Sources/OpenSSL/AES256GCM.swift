internal import COpenSSL
internal import Text
internal import Threads

/// Authenticated encryption with AES-256-GCM (NIST SP 800-38D): 12-byte nonces, 16-byte tags.
package struct AES256GCM: Sendable {
    package static let nonceSize = 12
    package static let tagSize = 16

    private let key: [UInt8]
    private let openers: Openers

    /// - Parameter key: 32 bytes.
    package init(key: [UInt8]) {
        precondition(key.count == 32, "an AES-256 key has 32 bytes")
        self.key = key
        openers = Openers(key: key)
    }

    /// The sealed form: nonce, ciphertext, tag. A nonce must never be used twice with one key; random ones are safe for
    /// 2^32 messages.
    ///
    /// - Parameter associatedData: bytes that bind the ciphertext to its place; `open` needs the same bytes.
    package func seal(
        _ plaintext: [UInt8], nonce: [UInt8] = randomBytes(nonceSize), associatedData: [UInt8] = []
    ) -> [UInt8] {
        precondition(nonce.count == Self.nonceSize, "a nonce has 12 bytes")
        let context = require(EVP_CIPHER_CTX_new(), "EVP_CIPHER_CTX_new")
        defer { EVP_CIPHER_CTX_free(context) }
        var length: Int32 = 0
        require(EVP_EncryptInit_ex2(context, Algorithms.aes256GCM, key, nonce, nil), "EVP_EncryptInit_ex2")
        require(
            EVP_EncryptUpdate(context, nil, &length, associatedData, Int32(associatedData.count)), "EVP_EncryptUpdate")
        let size = plaintext.count + Self.tagSize
        return nonce
            + [UInt8](filling: size) { output in
                require(
                    EVP_EncryptUpdate(context, output.baseAddress, &length, plaintext, Int32(plaintext.count)),
                    "EVP_EncryptUpdate")
                let tag = output.baseAddress.map { $0 + plaintext.count }
                require(EVP_EncryptFinal_ex(context, tag, &length), "EVP_EncryptFinal_ex")
                require(
                    EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagSize), tag),
                    "EVP_CIPHER_CTX_ctrl")
            }
    }

    /// - Throws: if the sealed form is truncated or changed, was sealed under another key or with other associated
    ///   data.
    package func open(_ sealed: [UInt8], associatedData: [UInt8] = []) throws(OpenSSLError) -> [UInt8] {
        let size = sealed.count - Self.nonceSize - Self.tagSize
        guard size >= 0 else { throw OpenSSLError(refused: "shorter than a nonce and a tag") }
        forgetEarlierErrors()
        let context = try openers.take()
        defer { openers.giveBack(context) }
        return try sealed.withUnsafeBufferPointer { sealed throws(OpenSSLError) in
            let ciphertext = sealed.baseAddress.map { $0 + Self.nonceSize }
            // libcrypto only copies it from there.
            let tag = UnsafeMutableRawPointer(mutating: ciphertext.map { $0 + size })
            var length: Int32 = 0
            try check(EVP_DecryptInit_ex2(context, nil, nil, sealed.baseAddress, nil), "EVP_DecryptInit_ex2")
            try check(
                EVP_DecryptUpdate(context, nil, &length, associatedData, Int32(associatedData.count)),
                "EVP_DecryptUpdate")
            // GCM writes as many bytes as it reads, and none at the end.
            let plaintext = try [UInt8](filling: size) { plaintext throws(OpenSSLError) in
                try check(
                    EVP_DecryptUpdate(context, plaintext.baseAddress, &length, ciphertext, Int32(size)),
                    "EVP_DecryptUpdate")
            }
            try check(
                EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagSize), tag), "EVP_CIPHER_CTX_ctrl")
            // As much as a block, of which GCM, a stream cipher, has one byte.
            var rest: UInt8 = 0
            guard EVP_DecryptFinal_ex(context, &rest, &length) > 0 else { throw OpenSSLError("EVP_DecryptFinal_ex") }
            return plaintext
        }
    }
}

/// Contexts that have their key already, to be used again: to make one and to give it its key takes longer than to open a short value.
/// There are as many as values were ever opened at the same time.
private final class Openers: Sendable {
    /// Only one thread has it at a time. openssl-threads(7): "The same API's can usually be used simultaneously on different objects
    /// without interference."
    private struct Context: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    private let key: [UInt8]
    private let idle = Monitor<[Context]>([])

    init(key: [UInt8]) { self.key = key }

    deinit { idle.withLock { $0.forEach { EVP_CIPHER_CTX_free($0.pointer) } } }

    func take() throws(OpenSSLError) -> OpaquePointer {
        if let context = idle.withLock({ $0.popLast() }) { return context.pointer }
        let context = try check(EVP_CIPHER_CTX_new(), "EVP_CIPHER_CTX_new")
        guard EVP_DecryptInit_ex2(context, Algorithms.aes256GCM, key, nil, nil) == 1 else {
            EVP_CIPHER_CTX_free(context)
            throw OpenSSLError("EVP_DecryptInit_ex2")
        }
        return context
    }

    /// - Parameter pointer: whatever became of its value, the next nonce begins anew.
    func giveBack(_ pointer: OpaquePointer) {
        let context = Context(pointer: pointer)
        idle.withLock { $0.append(context) }
    }
}
