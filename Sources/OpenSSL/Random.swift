internal import Glibc

/// Bytes from the operating system's generator: libcrypto's, which that one seeds, takes three times as long for a secret. Ends the
/// process rather than return weak bytes.
package func randomBytes(_ count: Int) -> [UInt8] {
    // As in SHA256.swift.
    var bytes = [UInt8](repeating: 0, count: count)
    bytes.withUnsafeMutableBytes { bytes in
        // As many as getentropy(3) gives at once.
        for start in stride(from: 0, to: count, by: 256) {
            let piece = UnsafeMutableRawBufferPointer(rebasing: bytes[start..<min(start + 256, count)])
            precondition(getentropy(piece.baseAddress, piece.count) == 0, "getentropy failed: \(errno)")
        }
    }
    return bytes
}
