import Text

/// 32 secret bytes. Printing a value does not show them.
package struct KeyMaterial: Equatable, Sendable, CustomStringConvertible, CustomReflectable {
    package let bytes: [UInt8]

    /// - Parameter text: 64 hexadecimal digits, or base64 in either alphabet (RFC 4648 §4, §5), padded or not.
    init(text: String) throws(InvalidValue) {
        let padding = text.utf8.suffix(2).count { $0 == UInt8(ascii: "=") }
        guard
            let bytes = [UInt8](hexadecimal: text.utf8) ?? Base64.decode(text.utf8)
                ?? Base64URL.decode(text.utf8.dropLast(padding))
        else {
            throw InvalidValue("is neither hexadecimal nor base64; \(Self.mend)")
        }
        guard bytes.count == 32 else { throw InvalidValue("is \(bytes.count) instead of 32 bytes long; \(Self.mend)") }
        self.bytes = bytes
    }

    package var description: String { "KeyMaterial(…)" }
    package var customMirror: Mirror { Mirror(self, children: []) }

    private static let mend = "make a key with: openssl rand -hex 32"
}
