internal import COpenSSL

/// Bytes from libcrypto's generator, which the operating system's generator seeds. Ends the process rather than return
/// weak bytes.
package func randomBytes(_ count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { bytes, initialized in
        if count > 0 { require(RAND_bytes(bytes.baseAddress, Int32(count)), "RAND_bytes") }
        initialized = count
    }
}
