internal import Glibc
internal import Text

/// Bytes from the operating system's generator: libcrypto's, which that one seeds, takes three times as long for a secret. Ends the
/// process rather than return weak bytes.
package func randomBytes(_ count: Int) -> [UInt8] {
    [UInt8](filling: count) { bytes in
        // As many as getentropy(3) gives at once.
        for start in stride(from: 0, to: count, by: 256) {
            let piece = UnsafeMutableBufferPointer(rebasing: bytes[start..<min(start + 256, count)])
            let result = getentropy(piece.baseAddress, piece.count)
            precondition(result == 0, "getentropy failed: \(errno)")
        }
    }
}
