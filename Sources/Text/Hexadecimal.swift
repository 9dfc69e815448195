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
