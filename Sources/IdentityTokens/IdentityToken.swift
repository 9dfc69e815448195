package import Time

/// The content of a verified identity token.
package struct IdentityToken: Equatable, Sendable {
    package var provider: Provider
    /// `sub`, 1 to 255 bytes. Provider and `sub` are the identity; an e-mail address never is.
    package var subject: String
    /// As the provider wrote it; nil if it is absent or not a string.
    package var email: String?
    package var emailVerified: Bool
    /// Whether the address is Apple's relay address and not the user's own.
    package var isPrivateEmail: Bool
    /// Google's `hd`: the organization the account belongs to.
    package var hostedDomain: String?
    /// The user's name at Google, of any length and with any characters.
    package var name: Name?
    package var issuedAt: Timestamp
    /// For which of the server's client ids it was made.
    package var audience: String

    package struct Name: Equatable, Sendable {
        package var given: String?
        package var family: String?
        /// `name`, in the provider's order.
        package var whole: String?

        /// - Returns: nil if the token has no name.
        init?(given: String?, family: String?, whole: String?) {
            if given == nil, family == nil, whole == nil { return nil }
            self.given = given
            self.family = family
            self.whole = whole
        }
    }

    package init(
        provider: Provider, subject: String, email: String? = nil, emailVerified: Bool = false,
        isPrivateEmail: Bool = false, hostedDomain: String? = nil, name: Name? = nil, issuedAt: Timestamp,
        audience: String = ""
    ) {
        self.provider = provider
        self.subject = subject
        self.email = email
        self.emailVerified = emailVerified
        self.isPrivateEmail = isPrivateEmail
        self.hostedDomain = hostedDomain
        self.name = name
        self.issuedAt = issuedAt
        self.audience = audience
    }
}
