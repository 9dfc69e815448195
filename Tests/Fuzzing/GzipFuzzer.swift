import Gzip

extension Fuzzer {
    /// Any bytes as gzip, and as data to compress. The output never exceeds the limit, and compressed data is restored.
    static let gzip = Fuzzer(name: "gzip", maximumSize: 65_536) { input in
        try checkLimits(input)

        // Stored in blocks of a size that the first byte gives.
        let text = Array(input.dropFirst())
        let member = stored(text, blockSize: Int(input.first ?? 0) * 8 + 1)
        try require(try gunzip(member, limit: text.count) == text, "a stored text comes back")
        try require(try gunzip(member + member, limit: 2 * text.count) == text + text, "members are concatenated")
        try require(outcome(Array(member.dropLast()), limit: text.count) == .failure(.truncated), "a cut is noticed")
    }

    private static func checkLimits(_ input: [UInt8]) throws {
        let limit = 1 << 20
        switch outcome(input, limit: limit) {
        case .success(let text):
            try require(text.count <= limit, "the result is limited")
            try require(outcome(input, limit: text.count) == .success(text), "exactly the limit is allowed")
            if !text.isEmpty {
                try require(outcome(input, limit: text.count - 1) == .failure(.tooLarge), "one byte less is not")
            }
        case .failure(.tooLarge):
            try require(outcome(input, limit: 1024) == .failure(.tooLarge), "what is too large for more is for less")
        case .failure: break
        }
    }

    private static func outcome(_ input: [UInt8], limit: Int) -> Result<[UInt8], GzipError> {
        Result { () throws(GzipError) in try gunzip(input, limit: limit) }
    }

    /// A gzip member (RFC 1952) of stored blocks (RFC 1951 §3.2.4).
    private static func stored(_ text: [UInt8], blockSize: Int) -> [UInt8] {
        var member: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF]
        var rest = text[...]
        repeat {
            let block = rest.prefix(blockSize)
            rest = rest.dropFirst(blockSize)
            let size = UInt16(block.count)
            member += [rest.isEmpty ? 1 : 0] + littleEndian(size) + littleEndian(~size) + block
        } while !rest.isEmpty
        return member + littleEndian(crc32(text)) + littleEndian(UInt32(text.count))
    }

    private static func littleEndian<T: FixedWidthInteger>(_ number: T) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }

    /// RFC 1952 §8.
    private static func crc32(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~0) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte)) { sum, _ in sum >> 1 ^ (sum & 1 == 1 ? 0xEDB8_8320 : 0) }
        }
    }
}
