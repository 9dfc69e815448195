/// gzip (RFC 1952) of a single block with the fixed Huffman codes (RFC 1951 §3.2.6).
///
/// Our own, since the library uses no C library and Foundation has no gzip. Requests repeat the same member names and values
/// in every event, so that matches do most of the work, and codes made for each request would gain little.
package enum GzipEncoder {
    /// How far back a match may be.
    private static let window = 32_768
    private static let lengths = 4...258

    package static func compress(_ input: [UInt8]) -> [UInt8] {
        var bits = BitWriter(reserving: input.count / 4 + 32)
        // deflate, no name, no time, unknown system
        for byte: UInt8 in [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255] { bits.append(UInt32(byte), 8) }
        // The last block, with fixed codes.
        bits.append(0b011, 3)
        input.withUnsafeBufferPointer { deflate($0, into: &bits) }
        literals[256].append(to: &bits)
        bits.alignToByte()
        bits.append(CRC32.of(input), 32)
        bits.append(UInt32(truncatingIfNeeded: input.count), 32)
        return bits.bytes
    }

    private static func deflate(_ input: UnsafeBufferPointer<UInt8>, into bits: inout BitWriter) {
        // Where four bytes with this hash were last seen.
        var last = [Int32](repeating: -1, count: 1 << 14)
        func hash(_ index: Int) -> Int {
            let four =
                UInt32(input[index]) | UInt32(input[index + 1]) << 8 | UInt32(input[index + 2]) << 16
                | UInt32(input[index + 3]) << 24
            return Int((four &* 0x9E37_79B1) >> 18)
        }
        var index = 0
        while index < input.count {
            var length = 0
            var distance = 0
            if index + lengths.lowerBound <= input.count {
                let hash = hash(index)
                let candidate = Int(last[hash])
                last[hash] = Int32(truncatingIfNeeded: index)
                if candidate >= 0, index - candidate <= window {
                    let longest = min(lengths.upperBound, input.count - index)
                    while length < longest, input[candidate + length] == input[index + length] { length += 1 }
                    distance = index - candidate
                }
            }
            guard length >= lengths.lowerBound else {
                literals[Int(input[index])].append(to: &bits)
                index += 1
                continue
            }
            lengthCodes[length].append(to: &bits)
            appendDistance(distance, to: &bits)
            // What a match covers can be matched later.
            let end = min(index + length, input.count - lengths.lowerBound + 1)
            var covered = index + 1
            while covered < end {
                last[hash(covered)] = Int32(truncatingIfNeeded: covered)
                covered += 1
            }
            index += length
        }
    }

    /// Bits in the order in which they are written, the lowest first.
    private struct Code {
        var bits: UInt32
        var count: UInt32

        /// A Huffman code, which is written from its highest bit (RFC 1951 §3.1.1).
        init(huffman code: UInt32, _ count: UInt32) {
            bits = (0..<count).reduce(0) { $0 | (code >> $1 & 1) << (count - 1 - $1) }
            self.count = count
        }

        /// The code, then the lowest bits of `extra`.
        func followed(by extra: UInt32, _ extraCount: UInt32) -> Code {
            var code = self
            code.bits |= extra << count
            code.count += extraCount
            return code
        }

        func append(to writer: inout BitWriter) { writer.append(bits, count) }
    }

    /// Of literals and of the end, 256, and of the lengths, from 257.
    private static let literals: [Code] = (0..<288).map { (symbol: UInt32) in
        switch symbol {
        case ..<144: Code(huffman: 0x30 + symbol, 8)
        case ..<256: Code(huffman: 0x190 + symbol - 144, 9)
        case ..<280: Code(huffman: symbol - 256, 7)
        default: Code(huffman: 0xC0 + symbol - 280, 8)
        }
    }

    /// By length, with the extra bits.
    private static let lengthCodes: [Code] = {
        var codes = [Code](repeating: literals[0], count: 259)
        var length = 3
        for symbol in 257..<285 {
            let extra = UInt32(max(0, (symbol - 261) / 4))
            for value in 0..<(UInt32(1) << extra) {
                codes[length] = literals[symbol].followed(by: value, extra)
                length += 1
            }
        }
        // 258 has a symbol of its own.
        codes[258] = literals[285]
        return codes
    }()

    /// The symbol of a distance is its highest two bits' (RFC 1951 §3.2.5).
    private static func appendDistance(_ distance: Int, to bits: inout BitWriter) {
        let value = UInt32(distance - 1)
        guard value >= 4 else { return distanceCodes[Int(value)].append(to: &bits) }
        let extra = UInt32(30 - value.leadingZeroBitCount)
        let symbol = 2 * (extra + 1) + (value >> extra & 1)
        distanceCodes[Int(symbol)].followed(by: value & (1 << extra - 1), extra).append(to: &bits)
    }

    private static let distanceCodes: [Code] = (0..<30).map { Code(huffman: $0, 5) }
}

/// Bits, the lowest first (RFC 1951 §3.1.1).
private struct BitWriter {
    private(set) var bytes: [UInt8] = []
    private var waiting: UInt64 = 0
    private var count: UInt32 = 0

    init(reserving count: Int) { bytes.reserveCapacity(count) }

    mutating func append(_ bits: UInt32, _ count: UInt32) {
        waiting |= UInt64(bits) << UInt64(self.count)
        self.count += count
        while self.count >= 8 {
            bytes.append(UInt8(truncatingIfNeeded: waiting))
            waiting >>= 8
            self.count -= 8
        }
    }

    mutating func alignToByte() {
        if count > 0 { append(0, 8 - count) }
    }
}
