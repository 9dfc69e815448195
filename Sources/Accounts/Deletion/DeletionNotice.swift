import JSON
import MariaDB

/// By which names a relying party knows a deleted account: what it was told at the deletion, and is told again when the
/// account is restored or purged (accounts §3.3).
struct DeletionNotice: Equatable {
    var application: Application.ID
    /// Of the grant that a new authorization would have used.
    var sub: String
    /// As tokens have them (accounts §2.7), with the subs of further grants, never the account's own id.
    var linkedSubs: [String]
}

extension Connection {
    /// The notices about a user whose grants have just ended, in ascending order of applications.
    ///
    /// - Parameter subs: of the grants that were live, the oldest first; applications ascend.
    func deletionNotices(
        of user: User.ID, knownAs subs: [(application: Application.ID, subs: [String])]
    ) throws -> [DeletionNotice] {
        if subs.isEmpty { return [] }
        let own = String(user.rawValue)
        let absorbed = try usersAbsorbed(by: user).map { String($0.rawValue) }
        let swapped = try all(
            "SELECT application_id, sub FROM absorbed_subs WHERE canonical_user_id = ?", user
        ) { row in (application: try row.read(Application.ID.self), sub: try row.read(String.self)) }
        return subs.map { application, subs in
            let linked = Set(subs + absorbed + swapped.filter { $0.application == application }.map(\.sub))
            return DeletionNotice(
                application: application, sub: subs.first { $0 == own } ?? subs.first ?? own,
                linkedSubs: linked.subtracting([own]).sorted { ($0.utf8.count, $0) < ($1.utf8.count, $1) })
        }
    }
}

extension Connection {
    /// In ascending order of applications.
    func deletionNotices(about user: User.ID) throws -> [DeletionNotice] {
        try all(
            """
            SELECT application_id, sub, linked_subs FROM deletion_notices WHERE user_id = ? ORDER BY application_id
            """, user
        ) { row in
            DeletionNotice(
                application: try row.read(), sub: try row.read(),
                linkedSubs: try [String](json: Array(row.read(String.self).utf8)))
        }
    }
}

extension AccountsTransaction {
    /// - Parameter notices: in ascending order of applications, whose rows the foreign key locks.
    func insert(_ notices: [DeletionNotice], about user: User.ID) throws {
        try connection.executeMany(
            "INSERT INTO deletion_notices (user_id, application_id, sub, linked_subs) VALUES (?, ?, ?, ?)", notices
        ) { [user, $0.application, $0.sub, String(decoding: $0.linkedSubs.json(), as: UTF8.self)] }
    }

    /// - Parameter user: locked.
    func takeDeletionNotices(about user: User.ID) throws -> [DeletionNotice] {
        let notices = try connection.deletionNotices(about: user)
        try connection.execute("DELETE FROM deletion_notices WHERE user_id = ?", user)
        return notices
    }
}
