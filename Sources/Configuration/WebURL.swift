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
        let scheme = text.prefix { $0 != ":" }
        guard scheme == "https" || scheme == "http", text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x23 })
        else {
            return nil
        }
        let behindScheme = text.dropFirst(scheme.count)
        guard behindScheme.hasPrefix("://") else { return nil }
        let written = behindScheme.dropFirst(3).prefix { $0 != "/" && $0 != "?" }
        guard let authority = Authority(written), authority.port != 0 else { return nil }
        description = text
        isHTTPS = scheme == "https"
        self.authority = authority
        rest = String(behindScheme.dropFirst(3 + written.count))
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
}

/// A URL that nobody can eavesdrop on or answer in the host's place: https, or in development also http to this
/// machine.
func secureURL(_ text: String, in environment: Deployment.Environment) throws(InvalidValue) -> WebURL {
    guard let url = WebURL(text) else { throw InvalidValue("is \(quoted(text)); set an https URL") }
    guard url.isHTTPS || (environment == .development && url.isLoopback) else {
        throw InvalidValue(
            "is \(quoted(text)); set an https URL"
                + (environment == .development ? ", or http to a loopback host" : ""))
    }
    return url
}
