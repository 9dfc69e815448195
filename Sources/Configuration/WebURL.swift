/// An absolute http or https URL with a plain host and neither user information nor fragment (RFC 3986 §3).
package struct WebURL: Equatable, Sendable, CustomStringConvertible {
    /// As written.
    package let description: String
    package let isHTTPS: Bool
    /// In lower case; an IPv6 address in its brackets.
    package let host: String
    package let port: Int?
    /// Everything behind the authority: path and query.
    package let rest: String

    package init?(_ text: String) {
        let scheme = text.prefix { $0 != ":" }
        guard scheme == "https" || scheme == "http", text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x23 })
        else {
            return nil
        }
        let behindScheme = text.dropFirst(scheme.count)
        guard behindScheme.hasPrefix("://") else { return nil }
        let authority = behindScheme.dropFirst(3).prefix { $0 != "/" && $0 != "?" }
        let hostLength = authority.first == "[" ? authority.prefix { $0 != "]" }.count + 1 : nil
        let host = hostLength.map { authority.prefix($0) } ?? authority.prefix { $0 != ":" }
        let behindHost = authority.dropFirst(host.count)
        guard Self.isHost(host), behindHost.isEmpty || behindHost.first == ":" else { return nil }
        if behindHost.isEmpty {
            port = nil
        } else {
            guard behindHost.dropFirst().allSatisfy(\.isNumber), let number = Int(behindHost.dropFirst()),
                (1...65_535).contains(number)
            else { return nil }
            port = number
        }
        description = text
        isHTTPS = scheme == "https"
        self.host = host.lowercased()
        rest = String(behindScheme.dropFirst(3 + authority.count))
    }

    /// Whether the host is this machine by its very form: `localhost`, 127.0.0.0/8 or `[::1]`.
    package var isLoopback: Bool { isLoopbackHost(host) }

    private static func isHost(_ host: Substring) -> Bool {
        if host.first == "[" {
            let address = host.dropFirst().dropLast()
            return host.last == "]" && address.count > 1
                && address.allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
        }
        return !host.isEmpty && host.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "." }
    }
}

/// A URL over which nobody can listen or answer instead of the host; in development also one of this machine.
func secureURL(_ text: String, in environment: Deployment.Environment) throws(InvalidValue) -> WebURL {
    guard let url = WebURL(text) else { throw InvalidValue("is \(quoted(text)); set an https URL") }
    guard url.isHTTPS || (environment == .development && url.isLoopback) else {
        throw InvalidValue(
            "is \(quoted(text)); set an https URL"
                + (environment == .development ? ", or http to a loopback host" : ""))
    }
    return url
}

/// - Parameter host: in lower case; an IPv6 address with or without brackets.
func isLoopbackHost(_ host: String) -> Bool {
    if ["localhost", "[::1]", "::1"].contains(host) { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
}
