import IdentityTokens
package import Time

/// An account at a provider that signs in to one of this server's accounts. It is identified by (provider, subject),
/// never by its e-mail address.
package struct Identity: Sendable {
    package typealias ID = Identifier<Identity>

    package var id: ID
    package var provider: String
    /// Nil if unknown or synthetic.
    package var email: String?
    var emailVerified: Bool
    /// Whether the provider was authoritative for the address.
    var emailAuthoritative: Bool
    package var linkedAt: Timestamp
}

/// The holder of a (provider, subject).
struct IdentityHolder: Equatable {
    var user: User.ID
    /// The holder, or the survivor of a merge that absorbed it.
    var canonical: User.ID
    /// Until when Apple's notices about the identity count no more (`renewAppleConsent`); nil before the first sign-in.
    var consentedAt: Timestamp?
    /// Whether tokens that the identity had wait to be revoked at Apple (`takeBackAppleGrants`).
    var hasWaitingGrants: Bool

    /// Whether both are the same users'. The rest may be another one by the time it is read again, which decides nothing.
    static func == (left: Self, right: Self) -> Bool { left.user == right.user && left.canonical == right.canonical }
}

extension IdentityToken {
    /// The token's e-mail address, if the provider verified it and it is not synthetic.
    var verifiedEmail: String? { emailVerified ? EmailAddress.present(email) : nil }

    /// The verified address as a login_email.
    var loginEmail: LoginEmail? {
        verifiedEmail.map { email in
            LoginEmail(
                address: FoldedAddress(email), isAuthoritative: EmailAddress.isAuthoritative(self, for: email))
        }
    }
}
