package import MariaDB

/// An e-mail address as it decides: ASCII letters in lower case, everything else byte for byte (accounts §1.6).
///
/// Providers fold no more than that. Unicode's folding makes one address of two, as of `K` and the Kelvin sign.
package struct FoldedAddress: Hashable, Sendable {
    let bytes: [UInt8]

    init(_ address: String) {
        bytes = address.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
    }

    /// One that a row has. Imported ones may not be folded; nothing is equal to those.
    init(stored address: String) { bytes = Array(address.utf8) }

    /// Whatever is behind the last `@`, without a final dot; nil without an `@`.
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

/// The address that a sign-in may be matched by: verified once, never shown.
package struct LoginEmail: Equatable, Sendable {
    var address: FoldedAddress
    /// Whether a provider with the last word on the address vouched for it. Without that, it is only taken.
    var isAuthoritative: Bool
}
