// This target owns signed tokens (RFC 7515, 7517, 7518, 7519): keys and key sets, parsing, verifying and signing in the
// compact form with RS256 and ES256. It reads neither the clock nor the network, and knows no issuer.

package import OpenSSL

/// The supported signature algorithms (RFC 7518 §3.1). There is one for each kind of key, so a token's header cannot
/// choose an algorithm; it can only agree with the key.
package enum Algorithm: String, Sendable {
    case rs256 = "RS256"
    case es256 = "ES256"

    package init(_ kind: KeyKind) {
        self =
            switch kind {
            case .rsa: .rs256
            case .p256: .es256
            }
    }
}
