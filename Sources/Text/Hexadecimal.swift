extension [UInt8] {
    /// Two lower-case digits a byte.
    package var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// The bytes that digits of either case stand for; nil for an odd number of them and for anything else.
    package init?(hexadecimal digits: some Collection<UInt8>) {
        let values = digits.compactMap { $0.hexadecimalValue }
        guard values.count == digits.count, values.count.isMultiple(of: 2) else { return nil }
        self = stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
    }
}

extension UInt8 {
    /// What it stands for as a hexadecimal digit in ASCII, of either case.
    package var hexadecimalValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
