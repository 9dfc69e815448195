import MariaDB
import Text

/// The SHA-256 of an attachment's content, which is stored under it: 64 lower-case hexadecimal digits.
package struct ContentDigest: RawRepresentable, Hashable, Comparable, Sendable, Bindable, Readable {
    package let rawValue: String

    package init?(rawValue: String) {
        guard let bytes = [UInt8](hexadecimal: rawValue.utf8), bytes.count == 32, bytes.hexadecimal == rawValue else {
            return nil
        }
        self.rawValue = rawValue
    }

    /// - Parameter bytes: the 32 bytes of the digest.
    init(_ bytes: [UInt8]) { rawValue = bytes.hexadecimal }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
