/// A URL from a stranger that the server sends requests to (accounts §3.5). `init` checks its form, `resolve` its
/// addresses.
package struct OutboundURL: Sendable {
    package let text: String
    let host: Host
    /// Whether requests may be sent to this machine; true only in development.
    let isExempt: Bool

    /// - Parameter allowsLoopbackHTTP: whether http to `localhost` and `127.0.0.1` is allowed, too; true only in
    ///   development.
    package init(_ text: String, allowsLoopbackHTTP: Bool) throws(ForbiddenURL) {
        // Exactly two slashes precede a host, of which libcurl forgives fewer and more.
        guard (1...2000).contains(text.utf8.count), text.utf8.allSatisfy(Self.isAllowed),
            let url = try? ParsedURL(text), let authority = WrittenURL(text)?.authority, !authority.isEmpty
        else { throw .malformed }
        if authority.utf8.contains(UInt8(ascii: "@")) || url.hasUserInformation { throw .userInformation }
        guard let host = url.host.flatMap({ Host($0) }) else { throw .malformed }
        self.text = text
        self.host = host
        isExempt = allowsLoopbackHTTP && url.scheme == "http" && Host.takesWebhooks(written: authority.host)
        guard url.scheme == "https" || isExempt else { throw .notHTTPS }
        if isExempt { return }
        switch host {
        case .address(let address): if address.isForbidden { throw .address(address) }
        case .name(let name):
            // RFC 6761 §6.3: this is always this machine, whatever a resolver says.
            if name == "localhost" || name.hasSuffix(".localhost"), let loopback = IPAddress("127.0.0.1") {
                throw .address(loopback)
            }
        }
    }

    /// The addresses of the host. Connect to one of these, and do not resolve the host again. Empty if the host has no
    /// addresses, or if the resolver takes longer than `time`.
    ///
    /// - Throws: `ForbiddenURL.address` if any of them is forbidden.
    package func resolve(within time: Duration) throws(ForbiddenURL) -> [IPAddress] {
        try judge { Resolver.addresses(of: $0, within: time) }
    }

    /// - Parameter resolve: returns the addresses of a name.
    func judge(_ resolve: (String) -> [IPAddress]) throws(ForbiddenURL) -> [IPAddress] {
        let addresses =
            switch host {
            case .address(let address): [address]
            case .name(let name): resolve(name)
            }
        try judge(addresses)
        return addresses
    }

    /// - Throws: `ForbiddenURL.address` if any of the host's addresses is forbidden.
    func judge(_ addresses: [IPAddress]) throws(ForbiddenURL) {
        if !isExempt, let forbidden = addresses.first(where: \.isForbidden) { throw .address(forbidden) }
    }

    /// Whether the text has only characters of URLs (RFC 3986 §2), and no fragment, which would not be sent anyway.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && !"\"#<>\\^`{|}".utf8.contains(byte)
    }
}

/// Why nothing is sent to a URL.
package enum ForbiddenURL: Error, Equatable, CustomStringConvertible {
    case malformed
    case notHTTPS
    case userInformation
    case address(IPAddress)

    package var description: String {
        switch self {
        case .malformed:
            "it must be a URL of at most 2000 characters without a fragment, such as https://rp.example/hook"
        case .notHTTPS: "it is not https"
        case .userInformation: "leave out the user name before @"
        case .address(let address): "its host has the address \(address), which is not public"
        }
    }
}

extension Substring {
    /// The host of an authority without user information.
    fileprivate var host: String { String(prefix { $0 != ":" }) }
}
