import JSON

/// What users may change in their account. Nil leaves a value unchanged; `.some(nil)` clears it (accounts §1.7).
package struct ProfileChanges: Sendable {
    package var name: String??
    package var nickname: String??
    package var contactEmail: String??

    package init(name: String??, nickname: String??, contactEmail: String??) {
        self.name = name
        self.nickname = nickname
        self.contactEmail = contactEmail
    }
}

extension Accounts {
    /// - Throws: `invalidRequest` for more than 200 characters and for a name that is not acceptable;
    ///   `invalidContactEmail` for what is not an address or is a synthetic one.
    package func updateProfile(
        of caller: Caller, _ changes: ProfileChanges, in transaction: AccountsTransaction
    ) throws -> User {
        for text in [changes.name, changes.nickname, changes.contactEmail] {
            if let text = text ?? nil, text.unicodeScalars.count > User.longestName {
                throw Failure.invalidRequest
            }
        }
        for name in [changes.name, changes.nickname] {
            if let name = name ?? nil, !DisplayName.isAcceptable(name) { throw Failure.invalidRequest }
        }
        if let address = changes.contactEmail ?? nil, !EmailAddress.isAcceptable(address) {
            throw Failure.invalidContactEmail
        }
        var (user, _) = try transaction.lockCaller(caller)
        var changed: [JSONValue] = []
        if let name = changes.name { (user.name, changed) = (name, changed + ["name"]) }
        if let nickname = changes.nickname { (user.nickname, changed) = (nickname, changed + ["nickname"]) }
        if let address = changes.contactEmail { (user.contactEmail, changed) = (address, changed + ["contact_email"]) }
        if !changed.isEmpty {
            try transaction.updateUser(user)
            transaction.audit(.userUpdated, user: user.id, actor: caller.actor, ["changed": .array(changed)])
        }
        return user
    }
}
