import IdentityTokens
package import Time

/// An account at a provider that signs in to one of ours. It is known by (provider, subject), never by its e-mail.
package struct Identity: Sendable {
    package typealias ID = Identifier<Identity>

    package var id: ID
    package var provider: String
    /// Nil when unknown, and for synthetic addresses.
    package var email: String?
    var emailVerified: Bool
    /// Whether the provider had the last word on the e-mail.
    var emailAuthoritative: Bool
    package var linkedAt: Timestamp
}

/// Who holds a (provider, subject).
struct IdentityHolder: Equatable {
    var user: User.ID
    /// The holder itself, or the survivor it was merged into.
    var canonical: User.ID
}

extension IdentityToken {
    /// The token's e-mail if its provider verified it and it is a real address.
    var verifiedEmail: String? { emailVerified ? EmailAddress.present(email) : nil }

    /// The same as what sign-ins may be matched by.
    var loginEmail: LoginEmail? {
        verifiedEmail.map { email in
            LoginEmail(
                address: FoldedAddress(email), isAuthoritative: EmailAddress.isAuthoritative(self, for: email))
        }
    }
}
