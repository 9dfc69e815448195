import JSON
package import MariaDB
package import Time

/// Live anonymous accounts that nobody has used for long, the longest unused first.
package struct InactiveUser: Sendable {
    package let id: User.ID
    package let lastActiveAt: Timestamp
}

extension Connection {
    /// The next accounts that a prune deletes, from the index alone but for a look at each row.
    ///
    /// - Parameters:
    ///   - limit: activity since then keeps an account.
    ///   - last: the last one that was listed before; nil: none.
    package func inactiveAnonymousUsers(
        since limit: Timestamp, after last: InactiveUser?, atMost count: Int
    ) throws -> [InactiveUser] {
        try all(
            """
            SELECT u.id, u.last_active_at FROM users u
            WHERE u.anonymous = TRUE AND u.last_active_at < ? AND u.last_active_at >= ?
              AND (u.last_active_at > ? OR u.id > ?) AND u.deleted_at IS NULL
              AND NOT EXISTS (SELECT 1 FROM identity_links l WHERE l.linked_user_id = u.id)
              AND NOT EXISTS (SELECT 1 FROM identity_links l WHERE l.primary_user_id = u.id)
            ORDER BY u.last_active_at, u.id LIMIT ?
            """, limit, last?.lastActiveAt ?? Timestamp(milliseconds: 0),
            last?.lastActiveAt ?? Timestamp(milliseconds: 0), last?.id.rawValue ?? 0, count
        ) { row in InactiveUser(id: try row.read(), lastActiveAt: try row.read()) }
    }
}

extension AccountsTransaction {
    /// Deletes an anonymous account for good, if it still is one and was not active since (accounts §4.6). Relying parties
    /// learn of the deletion and that it is carried out.
    ///
    /// - Returns: whether it was deleted.
    package func pruneAnonymousUser(_ id: User.ID, inactiveSince limit: Timestamp) throws -> Bool {
        guard let user = try lockUsers(id)[id], user.anonymous, user.deletedAt == nil, user.lastActiveAt < limit,
            try connection.absorbedUsers(among: id, nil).isEmpty, try connection.usersAbsorbed(by: id).isEmpty
        else { return false }
        let subs = try revokeGrants(of: id, because: .pruned, actor: .operator)
        for notice in try connection.deletionNotices(of: id, knownAs: subs) {
            emit(.userDeleted(id, notice, purgeAt: now))
            emit(.userPurged(id, notice))
        }
        try erase(id)
        audit(.userPruned, user: nil, actor: .operator, ["user_id": .integer(id.rawValue)])
        return true
    }
}
