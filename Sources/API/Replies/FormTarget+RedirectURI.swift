import Accounts
import Pages

extension FormTarget {
    /// - Parameter redirectURI: one that was found equal to a registered one.
    init(redirectURI: String) {
        let scheme = redirectURI.prefix { $0 != ":" }
        let isApp = scheme != "http" && scheme != "https"
        // As browsers compare it, and without a disguise for people.
        guard !isApp, let authority = RedirectURI.authority(of: redirectURI) else {
            self.init(source: "\(scheme):", name: String(scheme), isApp: isApp)
            return
        }
        // A directive ends at `;` and a source at a space; an IPv6 address is no source at all.
        let isSource = authority.utf8.allSatisfy(Self.isHostByte)
        self.init(source: isSource ? "\(scheme)://\(authority)" : "\(scheme):", name: authority, isApp: false)
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
