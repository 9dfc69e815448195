package import IdentityTokens

extension Accounts {
    /// Signs a person in with what a provider vouches for, as a session of accounts §1.6 does but without a device, and
    /// renews the browser's web session.
    ///
    /// A refusal is a result, not an error: its row in the login history is committed.
    ///
    /// - Parameter cookie: of the session that this one takes the place of.
    package func signInOnWeb(
        _ token: IdentityToken, _ fullName: PersonName?, replacing cookie: String?,
        in transaction: AccountsTransaction
    ) throws -> WebSignIn {
        let user: User
        do {
            (user, _) = try signIn(token, fullName, in: transaction)
        } catch let failure as Failure {
            if let refused = try resolve(token, transaction).user {
                try transaction.noteLogin(.refused, of: refused, provider: token.provider)
            }
            return .refused(failure)
        }
        if let cookie { try endWebSession(cookie, in: transaction) }
        let fresh = try transaction.insertWebSession(for: user.id, token.provider)
        try transaction.noteLogin(.webLogin, of: user.id, provider: token.provider)
        return .signedIn(cookie: fresh.text)
    }
}
