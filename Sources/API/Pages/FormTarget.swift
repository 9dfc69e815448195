import Accounts

/// The redirect URI that the answer to a form may lead to, as a page names it and as `form-action` has to
/// (Content Security Policy Level 3 §2.3.1): browsers apply that directive to the redirect that follows a POST.
struct FormTarget: Equatable, Sendable {
    /// An origin, or a scheme with its colon.
    let source: String
    /// What people see: the host with its port, or an app's scheme.
    let name: String
    /// Whether it is an app's own scheme rather than a site.
    let isApp: Bool

    /// - Parameter redirectURI: one that was found equal to a registered one.
    init(redirectURI: String) {
        let scheme = redirectURI.prefix { $0 != ":" }
        let rest = redirectURI.dropFirst(scheme.count)
        isApp = scheme != "http" && scheme != "https"
        guard !isApp, rest.utf8.starts(with: "://".utf8) else {
            source = "\(scheme):"
            name = String(scheme)
            return
        }
        // As browsers compare it, and without a disguise for people.
        let written = rest.dropFirst(3).prefix { $0 != "/" && $0 != "?" }
        let authority = RedirectURI.authority(written) ?? String(written)
        name = authority
        // A directive ends at `;` and a source at a space; an IPv6 address is no source at all.
        source = authority.utf8.allSatisfy(Self.isHostByte) ? "\(scheme)://\(authority)" : "\(scheme):"
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: ":"):
            true
        default: false
        }
    }
}
