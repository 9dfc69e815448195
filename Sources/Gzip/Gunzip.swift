internal import CZlib

// This target owns decompression of gzip (RFC 1952) within a limit. It does not compress; nginx does.

/// Why bytes could not be decompressed.
package enum GzipError: Error, Equatable, Sendable {
    /// The result is larger than the limit; decompression stopped there.
    case tooLarge
    /// The input ends too early.
    case truncated
    /// The input is not gzip, or a checksum does not match.
    case corrupt
}

/// Decompresses gzip bytes.
///
/// If several members follow one another, the result is their concatenation (RFC 1952 §2.2). If anything else follows a
/// member, the input is `corrupt`.
///
/// - Parameter limit: how large the result may be, in bytes; a result of exactly this size is allowed.
package func gunzip(_ bytes: [UInt8], limit: Int) throws(GzipError) -> [UInt8] {
    var stream = z_stream()
    // 16 means gzip only, 15 means the largest window (zlib.h, inflateInit2).
    precondition(
        inflateInit2_(&stream, 16 + 15, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK, "inflateInit2")
    defer { inflateEnd(&stream) }

    var input = bytes
    var output: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 65_536)
    let result: Result<Void, GzipError> = input.withUnsafeMutableBufferPointer { input in
        stream.next_in = input.baseAddress
        stream.avail_in = UInt32(input.count)
        while true {
            let (code, count) = part.withUnsafeMutableBufferPointer { part in
                stream.next_out = part.baseAddress
                stream.avail_out = UInt32(part.count)
                return (inflate(&stream, Z_NO_FLUSH), part.count - Int(stream.avail_out))
            }
            guard count <= limit - output.count else { return .failure(.tooLarge) }
            output += part[..<count]
            switch code {
            case Z_OK: continue
            case Z_STREAM_END:
                if stream.avail_in == 0 { return .success(()) }
                inflateReset(&stream)
            // No progress is possible. There is always room for output, so input is missing.
            case Z_BUF_ERROR: return .failure(.truncated)
            default: return .failure(.corrupt)
            }
        }
    }
    try result.get()
    return output
}
