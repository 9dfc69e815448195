import Database
import IdentityTokens
import MariaDB

/// Locks users. A rule that changes anything of an account locks its user first; if it needs several users, in
/// ascending order of id (accounts §0.4). `lockDeviceAndOwner` locks a device and its owner in one statement.
extension AccountsTransaction {
    /// Locks users in ascending order of id, and reads their current state. Users that no longer exist are missing from
    /// the result.
    func lockUsers(_ ids: User.ID?...) throws -> [User.ID: User] {
        try lockUsers(ids.compactMap { $0 })
    }

    func lockUsers(_ ids: some Sequence<User.ID>) throws -> [User.ID: User] {
        let wanted = Set(ids).sorted()
        guard let last = wanted.last else { return [:] }
        // One statement for one user and for two.
        var sql = Self.lockingTwo.with(wanted[0], last)
        if wanted.count > 2 {
            sql = ComposedSQL(select: User.columns, from: "users u")
            sql.append(" WHERE u.id IN ", oneOf: wanted)
            sql.append(" ORDER BY u.id FOR UPDATE")
        }
        let users = try connection.all(sql) { row in try User(from: &row) }
        try writeOnCluster(users)
        return Dictionary(uniqueKeysWithValues: users.map { ($0.id, $0) })
    }

    private static let lockingTwo = ComposedSQL(
        select: User.columns, from: "users u WHERE u.id IN (?, ?) ORDER BY u.id FOR UPDATE")

    /// Lets no transaction on another node of a cluster change anything of these locked users.
    func writeOnCluster(_ users: [User]) throws {
        try connection.writeOnCluster("UPDATE users SET version = version + 1 WHERE id IN ", users.map(\.id))
    }

    /// Locks the caller, and another user if one is given. Then reads again whether the account and what the caller is
    /// signed in by are still valid.
    ///
    /// - Throws: `invalidToken` if the account was deleted, or the PAK or web session ended in the meantime.
    func lockCaller(_ caller: Caller, and other: User.ID? = nil) throws -> (caller: User, other: User?) {
        let (user, others) = try lockCaller(caller, and: [other].compactMap { $0 })
        return (user, other == caller.id ? user : others.first)
    }

    /// Locks the caller, and the canonical user who holds the token's identity. What the caller is signed in by is read again, and
    /// so is who holds the identity.
    ///
    /// - Returns: also that user, who may be the caller; nil if nobody holds it.
    /// - Throws: `invalidToken` as above.
    func lockCaller(
        _ caller: Caller, andHolderOf token: IdentityToken
    ) throws -> (caller: User, holder: IdentityHolder?, owner: User?) {
        let user: User
        let others: [User]
        let holder: IdentityHolder?
        switch caller.credential {
        case .pak(let pak):
            let sql = Self.lockingWithHolder.with(caller.id, token.provider.rawValue, token.subject)
            let users = try connection.all(sql) { row in try User(from: &row) }
            try writeOnCluster(users)
            let found = try connection.holder(of: token, and: pak, of: caller.id)
            (user, others) = try check(caller, in: (users, found.isLive))
            holder = found.holder
        case .webSession:
            let seen = try connection.holder(of: token.provider, token.subject)
            (user, others) = try lockCaller(caller, and: seen.map { [$0.canonical] } ?? [])
            holder = try connection.holder(of: token.provider, token.subject)
        }
        return (user, holder, try owner(of: holder, among: others + [user]))
    }

    /// The same for a PAK whose caller is not known yet: the caller is read with what is locked, and confirmed to the PAK.
    ///
    /// - Throws: `UnconfirmedCaller` if no live account has the PAK; what the PAK's check throws.
    func lockCaller(
        _ pak: PresentedPAK, andHolderOf token: IdentityToken
    ) throws -> (caller: Caller, holder: IdentityHolder?, owner: User?) {
        // Read before, or by an earlier run of this transaction.
        if var caller = pak.caller {
            let locked = try lockCaller(caller, andHolderOf: token)
            caller.user = locked.caller
            return (caller, locked.holder, locked.owner)
        }
        let sql = Self.lockingPresentedWithHolder.with(pak.digest, token.provider.rawValue, token.subject)
        let users = try connection.all(sql) { row in try User(from: &row) }
        try writeOnCluster(users)
        // Whoever revokes a PAK, or gives it to another user, holds its user.
        guard let found = try connection.holder(of: token, andPAK: pak.digest) else { throw UnconfirmedCaller() }
        guard let user = users.first(where: { $0.id == found.user }) else { throw TransactionMustRestart() }
        if user.deletedAt != nil { throw UnconfirmedCaller() }
        let caller = Caller(user, found.pak)
        try pak.confirm(caller, at: now)
        return (caller, found.holder, try owner(of: found.holder, among: users))
    }

    /// - Parameter locked: users.
    private func owner(of holder: IdentityHolder?, among locked: [User]) throws -> User? {
        guard let holder else { return nil }
        guard let owner = locked.first(where: { $0.id == holder.canonical }) else { throw TransactionMustRestart() }
        return owner
    }

    /// - Returns: the others in ascending order, without the caller and those that no longer exist.
    func lockCaller(_ caller: Caller, and others: [User.ID]) throws -> (caller: User, others: [User]) {
        let wanted = Set(others + [caller.id]).sorted()
        switch caller.credential {
        case .pak(let pak):
            return try check(caller, in: lockUsersAndPAK(wanted, pak, of: caller.id))
        case .webSession(let session):
            let users = try lockUsers(wanted)
            // A session may end without its user's lock: what it does then came before.
            let isLive =
                try connection.first(
                    "SELECT 1 FROM web_sessions WHERE id = ? AND user_id = ?", session, caller.id
                ) { row in try row.read(Int64.self) } != nil
            return try check(caller, in: (Array(users.values), isLive))
        }
    }

    private func check(
        _ caller: Caller, in locked: (users: [User], isLive: Bool)
    ) throws -> (caller: User, others: [User]) {
        guard let user = locked.users.first(where: { $0.id == caller.id }), user.deletedAt == nil, locked.isLive else {
            throw Failure.invalidToken
        }
        return (user, locked.users.filter { $0.id != caller.id }.sorted { $0.id < $1.id })
    }

    /// Locks users, and after the last of them the caller's PAK, if it is not revoked: whoever revokes a PAK holds its user.
    ///
    /// - Parameter ids: in ascending order.
    private func lockUsersAndPAK(
        _ ids: [User.ID], _ pak: PAK.ID, of caller: User.ID
    ) throws -> (users: [User], isLive: Bool) {
        let last = ids[ids.count - 1]
        // One statement for one user and for two.
        var sql = Self.lockingTwoAndPAK.with(last, pak, caller, ids[0], last)
        if ids.count > 2 {
            sql = Self.lockingWithPAK.with(last, pak, caller)
            sql.append(" WHERE u.id IN ", oneOf: ids)
            sql.append(" ORDER BY u.id FOR UPDATE")
        }
        var isLive = false
        let users = try connection.all(sql) { row in
            isLive = try row.read(PAK.ID?.self) != nil
            return try User(from: &row)
        }
        try writeOnCluster(users)
        // The last user may be gone, and with it the row that the PAK would have come with.
        if users.last?.id != last { isLive = try connection.isLive(pak, of: caller) }
        return (users, isLive)
    }

    private static let lockingWithPAK = ComposedSQL(
        select: "p.id", User.columns,
        from: """
            users u LEFT JOIN paks p ON p.id = IF(u.id = ?, ?, NULL) AND p.user_id = ? AND p.revoked_at IS NULL
            """)
    private static let lockingTwoAndPAK = {
        var sql = lockingWithPAK
        sql.append(" WHERE u.id IN (?, ?) ORDER BY u.id FOR UPDATE")
        return sql
    }()
    private static let lockingWithHolder = lockingHolder(and: "?")
    private static let lockingPresentedWithHolder = lockingHolder(
        and: "(SELECT p.user_id FROM paks p WHERE p.digest = ? AND p.revoked_at IS NULL)")

    /// - Parameter caller: an expression of the caller's id.
    private static func lockingHolder(and caller: StaticString) -> ComposedSQL {
        var sql = ComposedSQL(select: User.columns, from: "users u FORCE INDEX (PRIMARY) WHERE u.id IN (")
        sql.append(caller)
        sql.append(
            """
            , (
                SELECT COALESCE(l.primary_user_id, i.user_id)
                FROM identities i LEFT JOIN identity_links l ON l.linked_user_id = i.user_id
                WHERE i.provider = ? AND i.sub = ?))
            ORDER BY u.id FOR UPDATE
            """)
        return sql
    }

    /// Locks the caller, and checks that the caller may still register applications.
    ///
    /// - Throws: `developerRequired` if the role was taken away in the meantime.
    func lockDeveloper(_ caller: Caller) throws {
        guard try lockCaller(caller).caller.role.registersApplications else { throw Failure.developerRequired }
    }

    /// Locks the user who is signed in, then the session, so that it does not end meanwhile; nil if it did.
    func lockUser(of session: WebSession) throws -> User? {
        let user = try lockUsers(session.user.id)[session.user.id]
        let isLive = try connection.first(
            "SELECT 1 FROM web_sessions WHERE id = ? AND user_id = ? LOCK IN SHARE MODE", session.id, session.user.id
        ) { row in try row.read(Int64.self) }
        try connection.writeOnCluster("UPDATE web_sessions SET version = version + 1 WHERE id IN ", [session.id])
        return user?.deletedAt == nil && isLive != nil ? user : nil
    }
}

extension Connection {
    fileprivate func isLive(_ pak: PAK.ID, of user: User.ID) throws -> Bool {
        try first(
            "SELECT 1 FROM paks WHERE id = ? AND user_id = ? AND revoked_at IS NULL", pak, user
        ) { row in try row.read(Int64.self) } != nil
    }
}
