package import IdentityTokens

extension Accounts {
    /// Signs a user in with a verified identity token, as accounts §1.6 does, but without a device. The browser gets a
    /// new web session.
    ///
    /// A refusal is returned and not thrown, because its row in the login history must be committed.
    ///
    /// - Parameter cookie: the one of the session that ends.
    package func signInOnWeb(
        _ token: IdentityToken, _ fullName: PersonName?, replacing cookie: String?,
        in transaction: AccountsTransaction
    ) throws -> WebSignIn {
        let person = try recognize(token, in: transaction)
        if let failure = person.refusal {
            if let user = person.user { try transaction.noteLogin(.refused, of: user.id, provider: token.provider) }
            return .refused(failure)
        }
        let user = try signIn(person, token, fullName, in: transaction)
        let fresh = try transaction.insertWebSession(for: user.id, token.provider, replacing: cookie)
        try transaction.noteLogin(person.isPromoted ? .promoted : .webLogin, of: user.id, provider: token.provider)
        return .signedIn(cookie: fresh.text)
    }
}
