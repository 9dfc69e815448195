package import MariaDB

/// An e-mail address in the form that is compared: ASCII letters in lower case, every other byte unchanged (accounts
/// §1.6).
///
/// Providers fold only ASCII. Unicode case folding would make two addresses equal that are not, such as those with `K`
/// and with the Kelvin sign.
package struct FoldedAddress: Hashable, Sendable {
    let bytes: [UInt8]

    init(_ address: String) {
        var bytes = Array(address.utf8)
        for index in bytes.indices where (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(bytes[index]) {
            bytes[index] |= 0x20
        }
        self.bytes = bytes
    }

    /// An address from a row. If an imported address is not folded, no address is equal to it.
    init(stored address: String) { bytes = Array(address.utf8) }

    /// What follows the last `@`, without a final dot; nil if there is no `@`.
    var domain: FoldedAddress? {
        bytes.lastIndex(of: UInt8(ascii: "@")).map { at in
            let domain = bytes[(at + 1)...]
            return FoldedAddress(bytes: Array(domain.last == UInt8(ascii: ".") ? domain.dropLast() : domain))
        }
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }
}

extension FoldedAddress: Bindable {
    package var parameter: Parameter { .text(String(decoding: bytes, as: UTF8.self)) }
}

/// The verified address that a sign-in may be matched by. It is never shown.
package struct LoginEmail: Equatable, Sendable {
    var address: FoldedAddress
    /// Whether an authoritative provider vouched for the address. If not, no other account can have the address, but by
    /// default no sign-in is matched by it.
    var isAuthoritative: Bool
}
