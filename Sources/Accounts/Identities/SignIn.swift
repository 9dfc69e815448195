import Database
import IdentityTokens
import Time

/// Whose account a verified identity token opens, with that user locked.
struct RecognizedPerson {
    /// Nil if the sign-in creates an account.
    let user: User?
    /// `accountDeleted` or `emailLinkedToOtherIdentity`, if the token does not open the account.
    let refusal: Failure?
    /// The other user that was to be locked.
    let other: User?
    fileprivate let resolution: Accounts.Resolution

    /// Whether the sign-in makes an anonymous account an identified one.
    var isPromoted: Bool { user?.anonymous == true }
}

extension Accounts {
    /// Finds the account of a verified identity token: by the identity, otherwise by a verified e-mail address (accounts
    /// §1.6). Nothing is written.
    ///
    /// - Parameter other: another user to lock in the same statement, because locks are taken in the order of ids.
    func recognize(
        _ token: IdentityToken, locking other: User.ID? = nil, in transaction: AccountsTransaction
    ) throws -> RecognizedPerson {
        let resolved = try resolve(token, transaction)
        let users = try transaction.lockUsers(resolved.user, other)
        guard try resolve(token, transaction) == resolved else { throw TransactionMustRestart() }
        let user = resolved.user.flatMap { users[$0] }
        if resolved.user != nil, user == nil { throw TransactionMustRestart() }
        return RecognizedPerson(
            user: user, refusal: try user.flatMap { try refusal(of: token, to: $0, resolved, transaction) },
            other: other.flatMap { users[$0] }, resolution: resolved)
    }

    private func refusal(
        of token: IdentityToken, to user: User, _ resolution: Resolution, _ transaction: AccountsTransaction
    ) throws -> Failure? {
        if !isRestorable(user, at: transaction.now), let deletion = user.deletion { return deletion }
        guard case .email = resolution else { return nil }
        let identities = try transaction.connection.identities(of: user.id)
        let isTaken = identities.contains { $0.provider == token.provider.rawValue }
        return isTaken ? .emailLinkedToOtherIdentity(token.provider) : nil
    }

    /// Signs in whom the token stands for, and creates an account for somebody new. Blank fields are filled from the token
    /// and the name.
    ///
    /// - Parameter person: not refused.
    func signIn(
        _ person: RecognizedPerson, _ token: IdentityToken, _ fullName: PersonName?,
        in transaction: AccountsTransaction
    ) throws -> User {
        let user =
            if let known = person.user {
                try signIn(known, by: person.resolution, token, fullName, transaction)
            } else {
                try createUser(token, fullName, transaction)
            }
        try transaction.renewAppleConsent(by: token)
        return user
    }

    /// Whether a sign-in takes the deletion of an account back (accounts §4.5).
    private func isRestorable(_ user: User, at now: Timestamp) -> Bool {
        guard settings.restoresWithinGrace, let graceEnd = user.graceEnd else { return false }
        return now < graceEnd
    }

    enum Resolution: Equatable {
        case identity(User.ID)
        case email(User.ID)
        case nobody

        var user: User.ID? {
            switch self {
            case .identity(let id), .email(let id): id
            case .nobody: nil
            }
        }
    }

    /// Finds the account without a lock.
    private func resolve(_ token: IdentityToken, _ transaction: AccountsTransaction) throws -> Resolution {
        let connection = transaction.connection
        if let holder = try connection.holder(of: token.provider, token.subject) { return .identity(holder.canonical) }
        guard let email = token.loginEmail, settings.linkByEmail.trusts(isAuthoritative: email.isAuthoritative),
            let owner = try connection.canonicalUser(ofLoginEmail: email.address),
            settings.linkByEmail.trusts(isAuthoritative: owner.isAuthoritative)
        else { return .nobody }
        return .email(owner.id)
    }

    private func signIn(
        _ found: User, by resolution: Resolution, _ token: IdentityToken, _ fullName: PersonName?,
        _ transaction: AccountsTransaction
    ) throws -> User {
        if case .email = resolution { try transaction.insertIdentity(token, for: found.id) }
        let live = try found.deletedAt == nil ? found : transaction.restore(found, actor: .user(found.id))
        var user = try transaction.filled(live, from: token, fullName)
        var isVouchedFor = user.loginEmail != live.loginEmail
        if let email = token.loginEmail, email.isAuthoritative, email.address != user.loginEmail?.address {
            isVouchedFor = try transaction.raiseAbsorbed(email.address, of: user.id)
        }
        if isVouchedFor { try transaction.rememberAddress(of: token) }
        if user.isDueForActivity(at: transaction.now) { user.lastActiveAt = transaction.now }
        if user.anonymous {
            user = try transaction.promoted(user, keeping: nil)
        } else if user != live {
            try transaction.updateUser(user)
        }
        return user
    }

    private func createUser(
        _ token: IdentityToken, _ fullName: PersonName?, _ transaction: AccountsTransaction
    ) throws -> User {
        let loginEmail = try token.loginEmail.flatMap { try transaction.isFree($0.address) ? $0 : nil }
        // If another transaction took the address since it was looked up, this sign-in belongs to that account.
        if token.loginEmail != nil, loginEmail == nil, try resolve(token, transaction) != .nobody {
            throw TransactionMustRestart()
        }
        let user = try transaction.createUser(
            anonymous: false, name: fullName?.display, contactEmail: token.verifiedEmail, loginEmail: loginEmail)
        try transaction.insertIdentity(token, for: user.id)
        return user
    }
}
