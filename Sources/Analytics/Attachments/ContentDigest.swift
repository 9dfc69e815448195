import MariaDB
import OpenSSL

/// The SHA-256 of a content, which is stored under it: 64 lower-case hexadecimal digits.
package struct ContentDigest: RawRepresentable, Hashable, Comparable, Sendable, Bindable, Readable {
    package let rawValue: String

    package init?(rawValue: String) {
        guard rawValue.utf8.count == 64, rawValue.utf8.allSatisfy(isHexadecimalDigit) else { return nil }
        self.rawValue = rawValue
    }

    /// - Parameter bytes: the digest's 32.
    init(_ bytes: [UInt8]) { rawValue = bytes.hexadecimal }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

private func isHexadecimalDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
    default: false
    }
}
