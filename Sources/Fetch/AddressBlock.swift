/// The addresses that begin with the same bits (RFC 4632 §3.1).
package struct AddressBlock {
    private let prefix: [UInt8]
    private let length: Int

    /// - Parameter text: `10.0.0.0/8`, `fc00::/7`.
    init(_ text: String) {
        guard let block = AddressBlock(written: text) else { preconditionFailure("\(text) is no block of addresses") }
        self = block
    }

    /// - Parameter text: a block, or one address: `192.0.2.7`. IPv4 only with four decimal numbers, none of which begins with 0
    ///   and goes on, nor does the length: others read such numbers as octal.
    /// - Returns: nil for anything else.
    package init?(written text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let written = parts.first, let address = IPAddress(written),
            address.isIPv4
                ? address.description.utf8.elementsEqual(written.utf8) : !written.utf8.contains(UInt8(ascii: "["))
        else { return nil }
        if parts.count == 2 {
            guard let length = Int(parts[1]), String(length).utf8.elementsEqual(parts[1].utf8),
                (0...8 * address.bytes.count).contains(length)
            else { return nil }
            prefix = address.bytes
            self.length = length
        } else {
            prefix = address.unmapped.bytes
            length = 8 * prefix.count
        }
    }

    /// The block of IPv4 addresses that a block of IPv6 addresses represents (RFC 4291 §2.5.5.2); any other block itself.
    package var unmapped: AddressBlock {
        let (mapped, rest) = (IPAddress(bytes: prefix).unmapped, length - 96)
        return mapped.isIPv4 && rest >= 0 && prefix.count > 4 ? AddressBlock(prefix: mapped.bytes, length: rest) : self
    }

    private init(prefix: [UInt8], length: Int) {
        self.prefix = prefix
        self.length = length
    }

    package func contains(_ address: IPAddress) -> Bool {
        guard address.bytes.count == prefix.count else { return false }
        return (0..<length).allSatisfy { bit in
            (prefix[bit / 8] ^ address.bytes[bit / 8]) & (0x80 >> UInt8(bit % 8)) == 0
        }
    }
}

extension IPAddress {
    /// Whether nothing may be sent there, because the address is this machine, its network, or nobody's (accounts
    /// §3.5).
    package var isForbidden: Bool { Self.forbidden.contains { $0.contains(self) } }

    private static let forbidden = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4",
        "::/96", "::1/128", "::ffff:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23",
        "2001:db8::/32", "2002::/16", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
    ].map(AddressBlock.init)
}
