extension [UInt8] {
    /// Two lower-case digits a byte.
    package var hexadecimal: String {
        String(decoding: flatMap { [$0.hexadecimalDigits.0, $0.hexadecimalDigits.1] }, as: UTF8.self)
    }

    /// The bytes that digits of either case stand for; nil for an odd number of them and for anything else.
    package init?(hexadecimal digits: some Collection<UInt8>) {
        let values = digits.compactMap { $0.hexadecimalValue }
        guard values.count == digits.count, values.count.isMultiple(of: 2) else { return nil }
        self = stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
    }
}

extension Span<UInt8> {
    /// What eight digits of either case stand for, of which four are at one offset and four at another; nil for anything else.
    ///
    /// All eight are worked out together, each in its own byte of a word. Both offsets must leave four bytes.
    package func hexadecimalNumber(at first: Int, and second: Int) -> UInt32? {
        // Unsafe is only that it would make values of any type; the offsets are checked.
        func four(_ offset: Int) -> UInt64 {
            UInt64(unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self).littleEndian)
        }
        let text = four(first) | four(second) << 32
        // A digit's upper half is 3, a letter's 4, or 6 in lower case.
        let letters = text >> 6 & repeated(1)
        let hasUpperHalves = (text | letters * 0x20) & repeated(0xF0) == (repeated(1) + letters) * 0x30
        // "A" ends in 1. No sum is beyond 24, so none reaches the next byte, and 118 more set the highest bit from 10 on.
        let values = (text & repeated(0x0F)) + letters * 9
        let isInRange = values & repeated(0xF0) == 0 && (values + repeated(118)) >> 7 & repeated(1) == letters
        guard hasUpperHalves, isInRange else { return nil }
        let pairs = (values << 4 | values >> 8) & 0x00FF_00FF_00FF_00FF
        let halves = (pairs | pairs >> 8) & 0x0000_FFFF_0000_FFFF
        // The first digit is the most significant.
        return UInt32(truncatingIfNeeded: halves | halves >> 16).byteSwapped
    }
}

extension UInt8 {
    /// Its two digits in ASCII, in lower case.
    package var hexadecimalDigits: (UInt8, UInt8) { (Self.digit(self >> 4), Self.digit(self & 15)) }

    /// The byte as `%2F` (RFC 3986 §2.1).
    package var percentEncoded: [UInt8] {
        [UInt8(ascii: "%")] + [self >> 4, self & 15].map { Self.digit($0, ten: UInt8(ascii: "A")) }
    }

    private static func digit(_ value: UInt8, ten: UInt8 = UInt8(ascii: "a")) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : ten + value - 10
    }

    /// What it stands for as a hexadecimal digit in ASCII, of either case.
    @inlinable package var hexadecimalValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
