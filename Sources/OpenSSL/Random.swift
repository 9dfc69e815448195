internal import COpenSSL

/// Bytes from libcrypto's generator, which the operating system's generator seeds. Ends the process rather than return
/// weak bytes.
package func randomBytes(_ count: Int) -> [UInt8] {
    // As in SHA256.swift.
    var bytes = [UInt8](repeating: 0, count: count)
    if count > 0 { require(RAND_bytes(&bytes, Int32(count)), "RAND_bytes") }
    return bytes
}
