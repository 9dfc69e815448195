// Which hosts are this machine: three questions, each with its own answer.

extension Host {
    /// Whether nobody else can be behind it: `localhost`, 127.0.0.0/8 or `::1`, an IPv4 address written as IPv6, too. The
    /// issuer of a development server is such a host.
    package var isLoopback: Bool {
        switch unmapped {
        case .name(let name): name == "localhost"
        case .address(let address): address.isLoopback
        }
    }

    /// Whether plain http may be used to it, where that is allowed at all: `localhost`, 127.0.0.1 or `::1`. Redirect URIs
    /// (accounts §2.1) and what a development server asks are judged by this.
    package var takesPlainHTTP: Bool { Self.plain.contains(self) }

    private static let plain = ["localhost", "127.0.0.1", "[::1]"].compactMap { Host($0) }

    /// Whether a development server may send webhooks to it over plain http (accounts §3.5): `localhost` or 127.0.0.1, in
    /// this spelling alone.
    ///
    /// - Parameter written: as the URL has it.
    static func takesWebhooks(written: String) -> Bool { written == "localhost" || written == "127.0.0.1" }
}
