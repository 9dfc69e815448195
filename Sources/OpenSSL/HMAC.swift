internal import COpenSSL
internal import Text

/// The 32-byte HMAC-SHA-256 (RFC 2104).
package func hmacSHA256(key: [UInt8], _ message: [UInt8]) -> [UInt8] {
    let context = require(EVP_MAC_CTX_new(Algorithms.hmac), "EVP_MAC_CTX_new")
    defer { EVP_MAC_CTX_free(context) }
    let parameters = Parameters()
    parameters.append(OSSL_MAC_PARAM_DIGEST, text: "SHA256")
    // EVP_MAC_init(3): without a key, the previous key is used. So an empty key needs an address, too.
    let result = parameters.withUnsafePointer { EVP_MAC_init(context, key.isEmpty ? [0] : key, key.count, $0) }
    require(result, "EVP_MAC_init")
    require(EVP_MAC_update(context, message, message.count), "EVP_MAC_update")
    return [UInt8](filling: 32) { mac in
        require(EVP_MAC_final(context, mac.baseAddress, nil, mac.count), "EVP_MAC_final")
    }
}
