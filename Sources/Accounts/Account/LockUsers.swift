import MariaDB

/// Locking of users, on whom everything else of an account hangs: whoever changes something of theirs locks them first, in
/// ascending order of id (accounts §0.4). A device and its owner are locked in one statement, by `lockDeviceAndOwner`.
extension AccountsTransaction {
    /// Locks users in ascending order of id and reads them as they are now. Those that are gone are missing.
    func lockUsers(_ ids: User.ID?...) throws -> [User.ID: User] {
        let wanted = Set(ids.compactMap { $0 }).sorted()
        guard let first = wanted.first else { return [:] }
        precondition(wanted.count <= 2, "a rule locks at most two users here")
        let sql = ComposedSQL(
            select: User.columns, from: "users u WHERE u.id IN (?, ?) ORDER BY u.id FOR UPDATE", first,
            wanted.last ?? first)
        let users = try connection.all(sql) { row in try User(from: &row) }
        return Dictionary(uniqueKeysWithValues: users.map { ($0.id, $0) })
    }

    /// Locks the caller, and another user when one is concerned, then reads again what the request was let in by.
    ///
    /// - Throws: `invalidToken` when the account or its PAK went meanwhile.
    func lockCaller(_ caller: Caller, and other: User.ID? = nil) throws -> (caller: User, other: User?) {
        let users = try lockUsers(caller.id, other)
        let isLive = try connection.first(
            "SELECT 1 FROM paks WHERE id = ? AND user_id = ? AND revoked_at IS NULL", caller.pak, caller.id
        ) { row in try row.read(Int64.self) }
        guard let user = users[caller.id], user.deletedAt == nil, isLive != nil else { throw Failure.invalidToken }
        return (user, other.flatMap { users[$0] })
    }

    /// Locks the caller, who registers applications still.
    ///
    /// - Throws: `developerRequired` when the role was taken away meanwhile.
    func lockDeveloper(_ caller: Caller) throws {
        guard try lockCaller(caller).caller.role.registersApplications else { throw Failure.developerRequired }
    }

    /// Locks the person who is signed in, then reads again whether the session still stands; nil when it does not.
    func lockUser(of session: WebSession) throws -> User? {
        let user = try lockUsers(session.user.id)[session.user.id]
        let isLive = try connection.first(
            "SELECT 1 FROM web_sessions WHERE id = ? AND user_id = ?", session.id, session.user.id
        ) { row in try row.read(Int64.self) }
        return user?.deletedAt == nil && isLive != nil ? user : nil
    }
}
