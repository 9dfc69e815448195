import Fetch

/// A redirect URI that an application may register (accounts §2.1).
package struct RedirectURI: Equatable, Sendable, CustomStringConvertible {
    package let description: String

    /// - Parameter issuerHost: the host of this server's issuer.
    package init(_ text: String, issuerHost: String) throws(InvalidRedirectURI) {
        func refuse(_ reason: InvalidRedirectURI.Reason) -> InvalidRedirectURI { InvalidRedirectURI(text, reason) }

        let bytes = Array(text.utf8)
        guard bytes.count <= 2000, bytes.allSatisfy(Self.isAllowed) else { throw refuse(.characters) }
        if bytes.contains(UInt8(ascii: "#")) { throw refuse(.fragment) }
        guard let url = WrittenURL(text) else { throw refuse(.schemeForbidden) }
        let scheme = url.scheme
        if scheme.contains("_") { throw refuse(.schemeUnderscore) }
        guard Self.isScheme(scheme) else { throw refuse(.schemeForbidden) }
        if let authority = url.authority, authority.contains("@") { throw refuse(.userinfo) }
        if scheme == "https" || scheme == "http" {
            guard let host = url.authority.flatMap({ Authority($0) })?.host else { throw refuse(.characters) }
            if scheme == "http", !host.takesPlainHTTP { throw refuse(.plainHTTP) }
            if scheme == "https", Host(issuerHost).map(host.isSame) == true { throw refuse(.idpHost) }
        }
        description = text
    }

    /// Host and port of an http or https URL, as browsers normalize them, or unchanged if the host is not valid; nil if
    /// the URL has none.
    package static func authority(of url: String) -> String? {
        WrittenURL(url)?.authority.map { Authority($0)?.description ?? String($0) }
    }

    /// Schemes that no app may use: they run code, read files, or have a fixed meaning in every system.
    private static let forbiddenSchemes: Set<String> = [
        "javascript", "data", "file", "blob", "about", "vbscript", "ws", "wss", "ftp", "mailto", "tel", "sms", "intent",
    ]

    /// Visible ASCII, except characters that deployed clients and servers read differently and characters that no URI
    /// may have (RFC 3986 §2).
    private static func isAllowed(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && !"+&*\"<>\\^`{|}".utf8.contains(byte)
    }

    /// Whether a URL may be an application's link: https, or the scheme of its app.
    static func isLink(_ text: String) -> Bool {
        let scheme = text.prefix { $0 != ":" }
        let rest = text.dropFirst(scheme.count + 1)
        return text.utf8.count <= 2000 && text.utf8.allSatisfy { (0x21...0x7E).contains($0) } && isScheme(scheme)
            && scheme != "http" && !rest.isEmpty && (scheme != "https" || rest.hasPrefix("//") && rest.count > 2)
    }

    private static func isScheme(_ scheme: Substring) -> Bool {
        guard let first = scheme.utf8.first, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first),
            !forbiddenSchemes.contains(String(scheme))
        else { return false }
        return scheme.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."),
                UInt8(ascii: "-"):
                true
            default: false
            }
        }
    }
}

/// Why a redirect URI is refused.
package struct InvalidRedirectURI: Error, Equatable, CustomStringConvertible {
    /// The raw values are the `error_description`s on the wire.
    package enum Reason: String, Sendable {
        case schemeUnderscore = "scheme_underscore"
        case schemeForbidden = "scheme_forbidden"
        case plainHTTP = "plain_http"
        case fragment
        case userinfo
        case characters
        case idpHost = "idp_host"
    }

    package let uri: String
    package let reason: Reason

    init(_ uri: String, _ reason: Reason) {
        self.uri = uri
        self.reason = reason
    }

    package var description: String { "redirect URI \"\(uri)\" is refused (\(reason.rawValue)): \(explanation)" }

    private var explanation: String {
        switch reason {
        case .schemeUnderscore: "iOS rejects schemes with an underscore"
        case .schemeForbidden: "use https, http to this machine, or a scheme of your own such as com.example.myapp"
        case .plainHTTP: "http is only for localhost, 127.0.0.1 and [::1]; use https"
        case .fragment: "remove # and everything after it"
        case .userinfo: "remove the user name before @"
        case .characters:
            "use at most 2000 visible ASCII characters that a URI may have, except + & *, and a host after https://"
        case .idpHost: "it is this server's own host; use the application's"
        }
    }
}
