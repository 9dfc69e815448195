internal import Text

/// The host of an http or https URL in one form, however it was written. Every decision about hosts uses this value. It
/// reads hosts as browsers do (WHATWG URL §3.5).
package enum Host: Hashable, Sendable {
    /// ASCII in lower case, without a final dot.
    case name(String)
    case address(IPAddress)

    /// nil for hosts that no browser connects to, and for hosts that browsers would first convert to ASCII (UTS #46).
    ///
    /// - Parameter text: the host as it stands in a URL; it may be percent-encoded, and an IPv6 address has brackets.
    package init?(_ text: some StringProtocol) {
        let text = Array(text.utf8)
        if text.first == UInt8(ascii: "[") {
            guard text.last == UInt8(ascii: "]"), let address = IPAddress(String(decoding: text, as: UTF8.self)) else {
                return nil
            }
            self = .address(address)
            return
        }
        guard let bytes = Self.percentDecoded(text) else { return nil }
        var labels = String(decoding: bytes, as: UTF8.self).lowercased().split(
            separator: ".", omittingEmptySubsequences: false)
        if labels.last?.isEmpty == true { labels.removeLast() }
        let name = labels.joined(separator: ".")
        guard let last = labels.last, name.utf8.count <= 253, labels.allSatisfy(Self.isLabel) else { return nil }
        if Self.isNumber(last) {
            guard let address = IPAddress(name) else { return nil }
            self = .address(address)
        } else {
            self = .name(name)
        }
    }

    /// Whether both hosts lead to the same place: an IPv4 address may be written as IPv6 (RFC 4291 §2.5.5.2).
    package func isSame(as other: Host) -> Bool { unmapped == other.unmapped }

    var unmapped: Host {
        guard case .address(let address) = self else { return self }
        return .address(address.unmapped)
    }

    /// Malformed escapes stand for themselves, so the text is not a host. nil if the result is not ASCII.
    private static func percentDecoded(_ text: [UInt8]) -> [UInt8]? {
        var bytes: [UInt8] = []
        var index = 0
        while index < text.count {
            if text[index] == UInt8(ascii: "%"),
                let byte = [UInt8](hexadecimal: text[(index + 1)...].prefix(2))?.first
            {
                bytes.append(byte)
                index += 3
            } else {
                bytes.append(text[index])
                index += 1
            }
        }
        return bytes.allSatisfy { $0 < 0x80 } ? bytes : nil
    }

    /// Whether the text is a label that resolvers know. `xn--name-` would be another spelling of plain `name` (RFC 3492
    /// §6.2); browsers disagree about it.
    private static func isLabel(_ label: Substring) -> Bool {
        (1...63).contains(label.utf8.count) && !(label.hasPrefix("xn--") && label.hasSuffix("-"))
            && label.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    /// Whether a host that ends in this label must be an address (WHATWG URL §3.5, "ends in a number").
    private static func isNumber(_ label: Substring) -> Bool {
        label.allSatisfy { ("0"..."9").contains($0) }
            || label.hasPrefix("0x") && label.utf8.dropFirst(2).allSatisfy { $0.hexadecimalValue != nil }
    }
}

extension Host: CustomStringConvertible {
    /// As browsers write it; an IPv6 address has its brackets.
    package var description: String {
        switch self {
        case .name(let name): name
        case .address(let address): address.bytes.count == 4 ? "\(address)" : "[\(address)]"
        }
    }
}

/// Host and port of an http or https URL (RFC 3986 §3.2), without user information.
package struct Authority: Hashable, Sendable, CustomStringConvertible {
    package let host: Host
    /// nil for the scheme's default port.
    package let port: UInt16?

    /// - Parameter text: the part between `//` and the path.
    package init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        let end =
            bytes.first == UInt8(ascii: "[")
            ? bytes.firstIndex(of: UInt8(ascii: "]")).map { $0 + 1 } : bytes.firstIndex(of: UInt8(ascii: ":"))
        let written = String(decoding: bytes[..<(end ?? bytes.count)], as: UTF8.self)
        guard let host = Host(written) else { return nil }
        self.host = host
        let rest = bytes[(end ?? bytes.count)...]
        if rest.isEmpty {
            port = nil
        } else {
            let digits = rest.dropFirst()
            // UInt16's own parser would accept a sign, too.
            guard rest.first == UInt8(ascii: ":"),
                digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
                let port = UInt16(String(decoding: digits, as: UTF8.self))
            else { return nil }
            self.port = port
        }
    }

    /// As browsers write it; a port is written even if it is the scheme's default.
    package var description: String { port.map { "\(host):\($0)" } ?? "\(host)" }

    /// The place to which a browser goes for this text as an http or https URL (WHATWG URL §4.4). Spaces around the
    /// text, tabs and line breaks in it, user information and the number of slashes do not matter, and `\` counts as a
    /// slash. nil for other schemes, and if the browser would go nowhere.
    ///
    /// - Returns: also the scheme, in lower case.
    package static func visited(by text: String) -> (scheme: String, authority: Authority)? {
        var bytes = text.utf8.filter { $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }.drop { $0 <= 0x20 }
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let scheme = String(decoding: bytes[..<colon], as: UTF8.self).lowercased()
        guard scheme == "https" || scheme == "http" else { return nil }
        bytes = bytes[bytes.index(after: colon)...].drop { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
        bytes = bytes.prefix { !"/\\?#".utf8.contains($0) }
        if let at = bytes.lastIndex(of: UInt8(ascii: "@")) { bytes = bytes[bytes.index(after: at)...] }
        while let last = bytes.last, last <= 0x20 { bytes.removeLast() }
        // The port after the colon may be empty.
        if bytes.last == UInt8(ascii: ":") { bytes.removeLast() }
        return Authority(String(decoding: bytes, as: UTF8.self)).map { (scheme, $0) }
    }
}
