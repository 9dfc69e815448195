internal import COpenSSL
internal import Text

/// The SHA-256 digest (FIPS 180-4) of a message that comes in parts. Only one thread at a time may use it.
package final class SHA256Stream {
    private let context = require(EVP_MD_CTX_new(), "EVP_MD_CTX_new")

    package init() { require(EVP_DigestInit_ex2(context, Algorithms.sha256, nil), "EVP_DigestInit_ex2") }

    deinit { EVP_MD_CTX_free(context) }

    package func update(_ bytes: [UInt8]) { require(EVP_DigestUpdate(context, bytes, bytes.count), "EVP_DigestUpdate") }

    /// Returns the 32 bytes. Call this once; no bytes may follow.
    package func finish() -> [UInt8] {
        [UInt8](filling: 32) { digest in
            require(EVP_DigestFinal_ex(context, digest.baseAddress, nil), "EVP_DigestFinal_ex")
        }
    }
}
