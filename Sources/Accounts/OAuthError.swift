package import ErrorCodes

/// An error that OAuth defines (RFC 6749 §4.1.2.1, §5.2; OpenID Connect Core §3.1.2.6; RFC 8628 §3.5).
package struct OAuthError: Error, Equatable, Sendable {
    /// One of the codes that OAuth defines.
    package let code: ErrorCode
    /// For developers, in English. Its length is bounded, because it is sent in redirects.
    package let description: String

    package init(_ code: ErrorCode, _ description: String) {
        self.code = code
        self.description = description
    }

    /// The bytes that an `error_description` and a scope's name may have, except the space (RFC 6749 §3.3, §4.1.2.1).
    static func isDescriptive(_ byte: UInt8) -> Bool { (0x21...0x7E).contains(byte) && byte != 0x22 && byte != 0x5C }

    package static let otherUser = OAuthError(.loginRequired, "the user is not the one that id_token_hint names")
    package static let denied = OAuthError(.accessDenied, "the user refused")
    package static let anonymousNotAllowed = OAuthError(.accessDenied, "anonymous_not_allowed")
}
