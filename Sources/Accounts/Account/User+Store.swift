import JSON
import MariaDB

extension User {
    /// The columns of a user `u` that `init(from:)` reads.
    static let columns: StaticString = """
        u.id, u.anonymous, u.previously_anonymous, u.name, u.nickname, u.contact_email, u.login_email,
        u.login_email_authoritative, u.role, u.created_at, u.last_active_at, u.deleted_at, u.purge_at
        """

    init(from row: inout Row) throws(MariaDBError) {
        id = try row.read()
        anonymous = try row.read()
        previouslyAnonymous = try row.read()
        name = try row.read()
        nickname = try row.read()
        contactEmail = EmailAddress.present(try row.read())
        let loginEmail = EmailAddress.present(try row.read())
        let isAuthoritative = try row.read(Bool.self)
        self.loginEmail = loginEmail.map {
            LoginEmail(address: FoldedAddress(stored: $0), isAuthoritative: isAuthoritative)
        }
        role = Role(rawValue: try row.read()) ?? .user
        createdAt = try row.read()
        lastActiveAt = try row.read()
        deletedAt = try row.read()
        purgeAt = try row.read()
    }
}

extension Connection {
    /// Both users as the snapshot sees them; without a lock.
    func users(_ one: User.ID, _ other: User.ID?) throws -> [User.ID: User] {
        let sql = ComposedSQL(select: User.columns, from: "users u WHERE u.id IN (?, ?)", one, other ?? one)
        let users = try all(sql) { row in try User(from: &row) }
        return Dictionary(uniqueKeysWithValues: users.map { ($0.id, $0) })
    }
}

extension AccountsTransaction {
    /// Inserts a new account.
    func createUser(
        anonymous: Bool, name: String? = nil, contactEmail: String? = nil, loginEmail: LoginEmail? = nil
    ) throws -> User {
        var user = User(
            id: User.ID(rawValue: 0), anonymous: anonymous, previouslyAnonymous: false, name: name,
            contactEmail: contactEmail, loginEmail: loginEmail, role: .user, createdAt: now, lastActiveAt: now)
        user.id = try insertUser(user)
        audit(.userCreated, user: user.id, actor: .user(user.id), ["anonymous": .bool(anonymous)])
        return user
    }

    private func insertUser(_ user: User) throws -> User.ID {
        let outcome = try connection.execute(
            """
            INSERT INTO users (anonymous, name, contact_email, login_email, login_email_authoritative, created_at,
                               last_active_at)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """, user.anonymous, user.name, user.contactEmail, user.loginEmail?.address,
            user.loginEmail?.isAuthoritative ?? false, user.createdAt, user.lastActiveAt)
        return User.ID(rawValue: Int64(outcome.lastInsertID))
    }

    /// Writes what sign-ins, links and swaps may change in a user, and with it the row's version. Whether the user is
    /// anonymous is not among that: see `promoted`.
    func updateUser(_ user: User) throws {
        try connection.execute(
            """
            UPDATE users SET version = version + 1, name = ?, nickname = ?, contact_email = ?, login_email = ?,
                             login_email_authoritative = ?, last_active_at = ?
            WHERE id = ?
            """, user.name, user.nickname, user.contactEmail, user.loginEmail?.address,
            user.loginEmail?.isAuthoritative ?? false, user.lastActiveAt, user.id)
    }

    /// Records that a user was active.
    func touch(_ user: inout User) throws {
        user.lastActiveAt = now
        try connection.executeLater("UPDATE users SET last_active_at = ? WHERE id = ?", now, user.id)
    }

    /// Whether no live user has this login_email. If another transaction takes it at the same time, the write ends in a
    /// duplicate key and this transaction runs again.
    func isFree(_ address: FoldedAddress) throws -> Bool {
        try connection.first("SELECT id FROM users WHERE live_login_email = ?", address) { row in
            try row.read(User.ID.self)
        } == nil
    }
}
