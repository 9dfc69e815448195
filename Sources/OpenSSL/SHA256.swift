internal import COpenSSL

/// The 32-byte SHA-256 digest (FIPS 180-4).
package func sha256(_ bytes: [UInt8]) -> [UInt8] {
    bytes.withUnsafeBytes(sha256)
}

package func sha256(_ text: String.UTF8View) -> [UInt8] {
    text.withContiguousStorageIfAvailable { sha256(UnsafeRawBufferPointer($0)) } ?? sha256(Array(text))
}

private func sha256(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    // `init(unsafeUninitializedCapacity:)` is generic, and would look up its types for each of many digests.
    var digest = [UInt8](repeating: 0, count: 32)
    require(EVP_Digest(bytes.baseAddress, bytes.count, &digest, nil, Algorithms.sha256, nil), "EVP_Digest")
    return digest
}
