internal import Glibc

/// The value of an IPv4 or IPv6 address.
package struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    /// 4 or 16 bytes in network order.
    let bytes: [UInt8]

    init(bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

    /// - Parameter literal: IPv4 in every notation that resolvers accept as an address (inet_aton(3)), which is one to
    ///   four numbers, each decimal, octal or hexadecimal; or IPv6 (RFC 4291 §2.2), with or without brackets.
    package init?(_ literal: String) {
        // inet_aton(3) ignores everything after a space.
        guard literal.utf8.allSatisfy({ $0 > 0x20 }) else { return nil }
        var (four, sixteen) = (in_addr(), in6_addr())
        if inet_aton(literal, &four) != 0 {
            bytes = withUnsafeBytes(of: four) { Array($0) }
        } else if inet_pton(AF_INET6, literal.withoutBrackets, &sixteen) == 1 {
            bytes = withUnsafeBytes(of: sixteen) { Array($0) }
        } else {
            return nil
        }
    }

    /// - Parameter address: an address of family AF_INET or AF_INET6, as getaddrinfo(3) returns it; the result is nil
    ///   for other families.
    init?(_ address: UnsafePointer<sockaddr>) {
        let address = UnsafeRawPointer(address)
        switch Int32(address.assumingMemoryBound(to: sockaddr.self).pointee.sa_family) {
        case AF_INET:
            bytes = withUnsafeBytes(of: address.assumingMemoryBound(to: sockaddr_in.self).pointee.sin_addr) {
                Array($0)
            }
        case AF_INET6:
            bytes = withUnsafeBytes(of: address.assumingMemoryBound(to: sockaddr_in6.self).pointee.sin6_addr) {
                Array($0)
            }
        default: return nil
        }
    }

    var isIPv4: Bool { bytes.count == 4 }

    /// 127.0.0.0/8 or `::1`.
    package var isLoopback: Bool {
        bytes.count == 4 ? bytes[0] == 127 : bytes.last == 1 && bytes.dropLast().allSatisfy { $0 == 0 }
    }

    /// The IPv4 address that an IPv6 address represents (RFC 4291 §2.5.5.2).
    package var unmapped: IPAddress { bytes.starts(with: IPAddress.mapped) ? IPAddress(bytes: bytes.suffix(4)) : self }

    /// The smallest network that one customer has. For an IPv4 address this is the address itself, also if it is
    /// embedded in an IPv6 address (RFC 4291 §2.5.5.2, RFC 6052 §2.1). For any other IPv6 address it is the first 64
    /// bits (RFC 6177 §2); the rest is zero.
    package var network: IPAddress {
        if bytes.count == 4 { return self }
        if bytes.starts(with: IPAddress.mapped) || bytes.starts(with: IPAddress.translated) {
            return IPAddress(bytes: bytes.suffix(4))
        }
        return IPAddress(bytes: bytes.prefix(8) + Array(repeating: 0, count: 8))
    }

    /// ::ffff:0:0/96
    private static let mapped: [UInt8] = Array(repeating: 0, count: 10) + [0xFF, 0xFF]
    /// 64:ff9b::/96
    private static let translated: [UInt8] = [0x00, 0x64, 0xFF, 0x9B] + Array(repeating: 0, count: 8)

    package var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        inet_ntop(bytes.count == 4 ? AF_INET : AF_INET6, bytes, &text, socklen_t(text.count))
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

extension String {
    fileprivate var withoutBrackets: String {
        utf8.first == UInt8(ascii: "[") && utf8.last == UInt8(ascii: "]") ? String(dropFirst().dropLast()) : self
    }
}
