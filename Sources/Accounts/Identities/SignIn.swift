import Database
import IdentityTokens

extension Accounts {
    /// Finds the account of a verified identity token, or creates it. The account is found by the identity, otherwise
    /// by a verified e-mail address (accounts §1.6). Blank fields are filled from the token and the name.
    ///
    /// - Parameter other: another user to lock in the same statement, because locks are taken in the order of ids.
    /// - Returns: the user and the other one, both locked.
    /// - Throws: `accountDeleted` and `emailLinkedToOtherIdentity`. Both are thrown before anything is written.
    func signIn(
        _ token: IdentityToken, _ fullName: PersonName?, locking other: User.ID? = nil,
        in transaction: AccountsTransaction
    ) throws -> (user: User, other: User?) {
        let resolved = try resolve(token, transaction)
        let users = try transaction.lockUsers(resolved.user, other)
        guard try resolve(token, transaction) == resolved else { throw TransactionMustRestart() }

        let user: User
        if let id = resolved.user {
            guard let found = users[id] else { throw TransactionMustRestart() }
            try found.checkNotDeleted()
            user = try signIn(found, by: resolved, token, fullName, transaction)
        } else {
            user = try createUser(token, fullName, transaction)
        }
        return (user, other.flatMap { users[$0] })
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
    func resolve(_ token: IdentityToken, _ transaction: AccountsTransaction) throws -> Resolution {
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
        if case .email = resolution {
            let identities = try transaction.connection.identities(of: found.id)
            if identities.contains(where: { $0.provider == token.provider.rawValue }) {
                throw Failure.emailLinkedToOtherIdentity(token.provider)
            }
            try transaction.insertIdentity(token, for: found.id)
        }
        var user = try transaction.filled(found, from: token, fullName)
        var isVouchedFor = user.loginEmail != found.loginEmail
        if let email = token.loginEmail, email.isAuthoritative, email.address != user.loginEmail?.address {
            isVouchedFor = try transaction.raiseAbsorbed(email.address, of: user.id)
        }
        if isVouchedFor { try transaction.rememberAddress(of: token) }
        if user.isDueForActivity(at: transaction.now) { user.lastActiveAt = transaction.now }
        if user.anonymous {
            user = try transaction.promoted(user, keeping: nil)
        } else if user != found {
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
