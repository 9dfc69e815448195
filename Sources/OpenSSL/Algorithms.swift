internal import COpenSSL

/// Algorithms that are fetched once, because a fetch costs more than hashing a short message.
///
/// They are never changed afterwards, so threads may share them. openssl-threads(7): "Objects are thread-safe as long
/// as the API's being invoked don't modify the object; in this case the parameter is usually marked in the API as
/// const."
enum Algorithms {
    nonisolated(unsafe) static let sha256 = require(EVP_MD_fetch(nil, "SHA256", nil), "EVP_MD_fetch")
    nonisolated(unsafe) static let hmac = require(EVP_MAC_fetch(nil, "HMAC", nil), "EVP_MAC_fetch")
    nonisolated(unsafe) static let aes256GCM = require(
        EVP_CIPHER_fetch(nil, "AES-256-GCM", nil), "EVP_CIPHER_fetch")
}
