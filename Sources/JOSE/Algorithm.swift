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
