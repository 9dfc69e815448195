import MariaDB
import Time

extension AccountsTransaction {
    /// Takes a deletion back for an operator.
    ///
    /// - Throws: `RefusedOperation` if there is no such user, it is not deleted, or its grace is over; `adminRequired` as
    ///   `lock` does.
    package func restoreUser(_ id: User.ID, by changer: Operator) throws {
        guard let user = try lock(changer, and: [id])[id] else {
            throw RefusedOperation("there is no user \(id.rawValue)")
        }
        guard let graceEnd = user.graceEnd else { throw RefusedOperation("user \(id.rawValue) is not deleted") }
        guard now < graceEnd else {
            throw RefusedOperation("the grace of user \(id.rawValue) ended at \(graceEnd.iso8601); it is purged next")
        }
        _ = try restore(user, actor: changer.actor)
    }

    /// Makes a soft-deleted account live again (accounts §4.5). Consents, keys and devices do not come back: the user signs
    /// in anew. The login_email comes back if nobody else took it.
    ///
    /// - Parameter user: locked, deleted, in its grace.
    /// - Returns: the user as it is now.
    func restore(_ user: User, actor: AuditEntry.Actor) throws -> User {
        var restored = user
        (restored.deletedAt, restored.purgeAt) = (nil, nil)
        if let email = user.loginEmail, try !isFree(email.address) { restored.loginEmail = nil }
        try connection.execute(
            """
            UPDATE users SET version = version + 1, deleted_at = NULL, purge_at = NULL, login_email = ?,
                             login_email_authoritative = ?
            WHERE id = ?
            """, restored.loginEmail?.address, restored.loginEmail?.isAuthoritative ?? false, user.id)
        let subjects = try connection.all(
            "SELECT sub FROM identities WHERE user_id = ? AND provider = 'apple' ORDER BY id", user.id
        ) { row in try row.read(String.self) }
        for subject in subjects { try takeBackAppleGrants(of: subject) }
        for notice in try takeDeletionNotices(about: user.id) { emit(.userRestored(user.id, notice)) }
        audit(.userRestored, user: user.id, actor: actor)
        return restored
    }
}
