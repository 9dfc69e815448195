import IdentityTokens
package import MariaDB
import Time

extension Accounts {
    /// The session of a cookie; nil if it is unknown or has ended, or its user is deleted. One indexed read.
    package func webSession(_ cookie: String, _ connection: Connection) throws -> WebSession? {
        let now = clock.now
        return try connection.first(
            """
            SELECT s.id, s.created_at, s.last_used_at, s.handle,
                   u.id, u.anonymous, u.previously_anonymous, u.name, u.nickname, u.contact_email, u.login_email,
                   u.login_email_authoritative, u.role, u.created_at, u.last_active_at, u.deleted_at, u.purge_at
            FROM web_sessions s JOIN users u ON u.id = s.user_id
            WHERE s.digest = ? AND s.expires_at > ? AND s.last_used_at > ? AND u.deleted_at IS NULL
            """, Secret(presented: cookie).digest, now, now - WebSession.idleLimit
        ) { row in
            let (id, authenticatedAt, lastUsedAt, handle) = (
                try row.read(WebSession.ID.self), try row.read(Timestamp.self), try row.read(Timestamp.self),
                try row.read([UInt8]?.self)
            )
            return WebSession(
                id: id, user: try User(from: &row), authenticatedAt: authenticatedAt, lastUsedAt: lastUsedAt,
                handle: handle.map(SessionHandle.init(bytes:)))
        }
    }

    /// Updates `last_used_at` of a session that was last used a minute ago or more. If the row is locked, nothing is
    /// written: the request must not wait for that.
    package func noteUse(of session: WebSession, _ connection: Connection) throws {
        let now = clock.now
        guard session.lastUsedAt + WebSession.useResolution <= now else { return }
        try connection.execute(
            """
            SET STATEMENT innodb_lock_wait_timeout = 0 FOR
            UPDATE web_sessions SET last_used_at = ? WHERE id = ? AND last_used_at < ?
            """, now, session.id, now)
    }

    /// Ends the session that a cookie opens, if there is one, and tells the relying parties that were signed in to
    /// through it (accounts §3.7).
    package func endWebSession(_ cookie: String, in transaction: AccountsTransaction) throws {
        try transaction.replaceWebSession(cookie, by: nil)
    }
}

extension AccountsTransaction {
    /// Deletes the session that a cookie opens. Unless the same user's session takes its place, that signs them out.
    ///
    /// - Returns: what the session that takes its place goes on with; nil when it is somebody else's, or there was none.
    @discardableResult
    func replaceWebSession(_ cookie: String, by user: User.ID?) throws -> SessionHandle? {
        // Whoever issues a code in the session holds its row until the code is there to be seen.
        let found = try connection.first(
            "SELECT id, user_id, handle FROM web_sessions WHERE digest = ? FOR UPDATE", Secret(presented: cookie).digest
        ) { row in
            (
                id: try row.read(WebSession.ID.self), user: try row.read(User.ID.self),
                handle: try row.read([UInt8]?.self).map(SessionHandle.init(bytes:))
            )
        }
        guard let found else { return nil }
        try connection.execute("DELETE FROM web_sessions WHERE id = ?", found.id)
        if found.user == user { return found.handle }
        if let handle = found.handle {
            try revokeCodes(of: handle)
            try emitLogouts(of: handle)
        }
        return nil
    }

    /// Ends a user's sessions, and voids the codes that were issued in them: else a sign-in could begin that no logout
    /// token ends.
    ///
    /// Whoever locks the user's grants later in the transaction deletes the sessions here, and voids the codes then
    /// (accounts §0.4).
    ///
    /// - Parameter user: locked, so that no code is issued meanwhile.
    func endWebSessions(of user: User.ID, except kept: WebSession.ID? = nil) throws {
        try revokeCodes(of: try deleteWebSessions(of: user, except: kept))
    }

    /// - Returns: what each of them had.
    @discardableResult
    func deleteWebSessions(of user: User.ID, except kept: WebSession.ID? = nil) throws -> [SessionHandle?] {
        let handles = try connection.all(
            "SELECT handle FROM web_sessions WHERE user_id = ? AND NOT id <=> ? ORDER BY id FOR UPDATE", user, kept
        ) { row in try row.read([UInt8]?.self).map(SessionHandle.init(bytes:)) }
        if !handles.isEmpty {
            try connection.execute("DELETE FROM web_sessions WHERE user_id = ? AND NOT id <=> ?", user, kept)
        }
        return handles
    }

    /// Inserts a new session of a locked user.
    ///
    /// - Parameters:
    ///   - provider: nil if none was involved.
    ///   - cookie: of the session that it takes the place of.
    func insertWebSession(for user: User.ID, _ provider: Provider?, replacing cookie: String?) throws -> Secret {
        let handle = try cookie.flatMap { try replaceWebSession($0, by: user) } ?? SessionHandle()
        let cookie = Secret(.plain)
        try connection.execute(
            """
            INSERT INTO web_sessions (digest, user_id, provider, handle, created_at, last_used_at, expires_at)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """, cookie.digest, user, provider?.rawValue, handle, now, now, now + WebSession.lifetime)
        return cookie
    }
}
