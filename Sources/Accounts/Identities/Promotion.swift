import IdentityTokens
import MariaDB
import Text

extension AccountsTransaction {
    /// Fills a user's blank name and addresses from a sign-in; values that are present stay. If the provider is
    /// authoritative for the user's login_email, the address is marked as authoritative.
    func filled(_ user: User, from token: IdentityToken, _ fullName: PersonName?) throws -> User {
        var user = user
        if user.name.isBlank, let name = fullName?.display { user.name = name }
        if user.contactEmail.isBlank { user.contactEmail = token.verifiedEmail ?? user.contactEmail }
        guard let offered = token.loginEmail else { return user }
        if let present = user.loginEmail {
            if present.address == offered.address, offered.isAuthoritative { user.loginEmail = offered }
        } else if try isFree(offered.address) {
            user.loginEmail = offered
        }
        return user
    }

    /// The one way an anonymous account becomes an identified one in place, under its id; with what else changed in it.
    /// Relying parties are told.
    ///
    /// No copy of an anonymous credential stays valid: other PAKs are revoked, and the secrets of other devices are
    /// voided until the user signs in there (accounts §1.8). Nor does what such a copy can have obtained: proofs for a merge,
    /// other browsers' sessions, and approvals of their sign-ins.
    func promoted(_ user: User, keeping caller: Caller?) throws -> User {
        try updateUser(user)
        var user = user
        user.anonymous = false
        user.previouslyAnonymous = true
        try connection.execute(
            "UPDATE users SET anonymous = FALSE, previously_anonymous = TRUE WHERE id = ?", user.id)
        try voidDeviceSecrets(of: user.id, except: caller?.device)
        try revokePAKs(of: user.id, except: caller?.pak, reason: "promoted", actor: .user(user.id))
        try voidMergeCredentials(of: user.id)
        try endWebSessions(of: user.id, except: caller?.webSession)
        try denyPushApprovals(of: user.id, by: .user(user.id), because: "promoted")
        audit(.userPromoted, user: user.id, actor: .user(user.id))
        try emitPromotion(of: user.id)
        return user
    }
}
