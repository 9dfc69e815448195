import IdentityTokens

extension AccountsTransaction {
    /// The user with what a sign-in says about it: blank names and addresses are filled, nothing is replaced. That the
    /// provider has the last word on the address it has for sign-ins is added.
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

    /// Makes an anonymous account an identified one in place, under its id, and writes it.
    ///
    /// No copy of an anonymous credential outlives the promotion: other PAKs are revoked, the secrets of other devices
    /// are voided until a session re-secures them (accounts §1.8).
    func promoted(_ user: User, keeping caller: Caller?) throws -> User {
        var user = user
        user.anonymous = false
        user.previouslyAnonymous = true
        try updateUser(user)
        try voidDeviceSecrets(of: user.id, except: caller?.device)
        try revokePAKs(of: user.id, except: caller?.pak, reason: "promoted", actor: .user(user.id))
        audit(.userPromoted, user: user.id, actor: .user(user.id))
        return user
    }
}
