import OpenSSL
import Text

/// A bearer secret of 256 random bits. Its text is shown in one answer; only the digest is stored.
package struct Secret: Sendable {
    /// The prefix that says what a secret is for (accounts §0.3).
    package enum Kind: String, Sendable {
        case pak = "lpk_live_"
        case device = "ds_"
        case swapTicket = "swt_"
        case mergeToken = "ltgt_"
        case agent = "logi_agt_"
        /// No prefix: codes, refresh tokens, device codes and cookies.
        case plain = ""
    }

    package let text: String
    package let digest: [UInt8]

    /// A new secret from the system's random generator.
    init(_ kind: Kind) { self.init(presented: kind.rawValue + Base64URL.encode(randomBytes(32))) }

    /// A client secret (accounts §0.3).
    static func forClient() -> Secret { Secret(presented: "logi_secret_" + randomBytes(32).hexadecimal) }

    /// A secret that a caller presents, whatever its form: it is looked up by its digest.
    package init(presented text: String) {
        self.text = text
        digest = sha256(text.utf8)
    }
}
