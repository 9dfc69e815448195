internal import COpenSSL

/// The 32-byte HMAC-SHA-256 (RFC 2104).
package func hmacSHA256(key: [UInt8], _ message: [UInt8]) -> [UInt8] {
    let context = require(EVP_MAC_CTX_new(Algorithms.hmac), "EVP_MAC_CTX_new")
    defer { EVP_MAC_CTX_free(context) }
    var digestName = Array("SHA256".utf8CString)
    digestName.withUnsafeMutableBufferPointer { name in
        let parameters = [
            OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name.baseAddress, 0), OSSL_PARAM_construct_end(),
        ]
        // A nil key would mean "the key of before", so an empty one has to have an address.
        require(EVP_MAC_init(context, key.isEmpty ? [0] : key, key.count, parameters), "EVP_MAC_init")
    }
    require(EVP_MAC_update(context, message, message.count), "EVP_MAC_update")
    return [UInt8](unsafeUninitializedCapacity: 32) { mac, count in
        require(EVP_MAC_final(context, mac.baseAddress, &count, 32), "EVP_MAC_final")
    }
}
