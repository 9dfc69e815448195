import FoundationEssentials

/// 32 secret bytes. Printing a value does not show them.
package struct KeyMaterial: Equatable, Sendable, CustomStringConvertible, CustomReflectable {
    package let bytes: [UInt8]

    /// - Parameter text: 64 hexadecimal digits, or base64 in either alphabet (RFC 4648 §4, §5), padded or not.
    init(text: String) throws(InvalidValue) {
        guard let bytes = Self.hexadecimal(text) ?? Self.base64(text) else {
            throw InvalidValue("is neither hexadecimal nor base64; \(Self.mend)")
        }
        guard bytes.count == 32 else { throw InvalidValue("is \(bytes.count) instead of 32 bytes long; \(Self.mend)") }
        self.bytes = bytes
    }

    package var description: String { "KeyMaterial(…)" }
    package var customMirror: Mirror { Mirror(self, children: []) }

    private static let mend = "make a key with: openssl rand -hex 32"

    private static func hexadecimal(_ text: String) -> [UInt8]? {
        let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
    }

    private static func base64(_ text: String) -> [UInt8]? {
        let standard = text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }.filter { $0 != "=" }
        let padding = String(repeating: "=", count: (4 - standard.count % 4) % 4)
        return Data(base64Encoded: String(standard) + padding).map { Array($0) }
    }
}
