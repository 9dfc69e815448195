import Fetch

/// An absolute http or https URL with a plain host and neither user information nor fragment (RFC 3986 §3).
package struct WebURL: Equatable, Sendable, CustomStringConvertible {
    /// As written.
    package let description: String
    package let isHTTPS: Bool
    private let authority: Authority
    /// Everything after the authority: path and query.
    package let rest: String

    package init?(_ text: String) {
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x23 }), let written = WrittenURL(text),
            written.scheme == "https" || written.scheme == "http",
            let authority = written.authority.flatMap({ Authority($0) }), authority.port != 0
        else { return nil }
        description = text
        isHTTPS = written.scheme == "https"
        self.authority = authority
        rest = String(written.rest)
    }

    /// As browsers write it, however it was written; an IPv6 address has its brackets.
    package var host: String { authority.host.description }
    package var port: Int? { authority.port.map(Int.init) }

    /// Scheme, host and port as browsers write them (RFC 6454 §6.2).
    package var origin: String {
        let isDefaultPort = authority.port == (isHTTPS ? 443 : 80)
        return (isHTTPS ? "https://" : "http://") + (isDefaultPort ? host : authority.description)
    }

    /// Whether the host's text already names this machine: `localhost`, 127.0.0.0/8 or `[::1]`.
    package var isLoopback: Bool { authority.host.isLoopback }

    fileprivate var takesPlainHTTP: Bool { authority.host.takesPlainHTTP }
}

/// A URL that nobody can eavesdrop on or answer in the host's place: https, or in development also http to this
/// machine.
func secureURL(_ text: String, in environment: Deployment.Environment) throws(InvalidValue) -> WebURL {
    guard let url = WebURL(text) else { throw InvalidValue("is \(quoted(text)); set an https URL") }
    guard url.isHTTPS || (environment == .development && url.takesPlainHTTP) else {
        throw InvalidValue(
            "is \(quoted(text)); set an https URL"
                + (environment == .development ? ", or http to localhost, 127.0.0.1 or [::1]" : ""))
    }
    return url
}
