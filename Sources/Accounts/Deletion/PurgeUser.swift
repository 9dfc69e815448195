import Database
import JSON
package import MariaDB
package import Time

extension Connection {
    /// Deleted accounts whose grace is over, in ascending order. Absorbed accounts are not among them: they go with their
    /// survivor.
    package func usersDueForPurge(at now: Timestamp) throws -> [User.ID] {
        try all(
            """
            SELECT u.id FROM users u
            WHERE (u.purge_at <= ? OR u.purge_at IS NULL AND u.deleted_at <= ?) AND u.deleted_at IS NOT NULL
              AND NOT EXISTS (SELECT 1 FROM identity_links l WHERE l.linked_user_id = u.id)
            ORDER BY u.id
            """, now, now - User.deletionGrace
        ) { row in try row.read() }
    }

    /// Those that a purge of an account erases, in its order.
    package func usersPurged(with user: User.ID) throws -> [User.ID] { try usersAbsorbed(by: user) + [user] }
}

extension AccountsTransaction {
    /// Erases one account of a due family: the first that the user absorbed, or else the user. Call it until it returns the
    /// user itself or nil. Whoever is killed in between goes on with the next account.
    ///
    /// - Returns: who was erased; nil if the user is not due any more, because it was restored or is gone.
    package func purgeNext(of id: User.ID) throws -> User.ID? {
        let absorbed = try connection.usersAbsorbed(by: id).first
        let users = try lockUsers(id, absorbed)
        guard let user = users[id], let graceEnd = user.graceEnd, graceEnd <= now,
            try connection.absorbedUsers(among: id, nil).isEmpty
        else { return nil }
        // Read again under the locks: another purge may have been faster.
        guard try connection.usersAbsorbed(by: id).first == absorbed else { throw TransactionMustRestart() }
        let erased = absorbed ?? id
        if absorbed == nil {
            for notice in try connection.deletionNotices(about: id) { emit(.userPurged(id, notice)) }
        }
        try erase(erased)
        audit(.userPurged, user: nil, actor: .operator, ["user_id": .integer(erased.rawValue)])
        return erased
    }
}
