import Accounts
import Pages

extension FormTarget {
    /// - Parameter redirectURI: equal to a registered one.
    init(redirectURI: String) {
        let scheme = redirectURI.prefix { $0 != ":" }
        let isApp = scheme != "http" && scheme != "https"
        // Normalized as browsers do it. This also shows users the real host.
        guard !isApp, let authority = RedirectURI.authority(of: redirectURI) else {
            self.init(source: "\(scheme):", name: String(scheme), isApp: isApp)
            return
        }
        // A `;` would end the directive and a space the source. An IPv6 address cannot be a source.
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
