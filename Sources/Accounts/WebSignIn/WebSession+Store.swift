import IdentityTokens
package import MariaDB
import Time

extension Accounts {
    /// The session of a cookie; nil if it is unknown or has ended, or its user is deleted. One indexed read.
    package func webSession(_ cookie: String, _ connection: Connection) throws -> WebSession? {
        let now = clock.now
        return try connection.first(
            """
            SELECT s.id, s.created_at, s.last_used_at,
                   u.id, u.anonymous, u.previously_anonymous, u.name, u.nickname, u.contact_email, u.login_email,
                   u.login_email_authoritative, u.role, u.created_at, u.last_active_at, u.deleted_at, u.purge_at
            FROM web_sessions s JOIN users u ON u.id = s.user_id
            WHERE s.digest = ? AND s.expires_at > ? AND s.last_used_at > ? AND u.deleted_at IS NULL
            """, Secret(presented: cookie).digest, now, now - WebSession.idleLimit
        ) { row in
            let (id, authenticatedAt, lastUsedAt) = (
                try row.read(WebSession.ID.self), try row.read(Timestamp.self), try row.read(Timestamp.self)
            )
            return WebSession(
                id: id, user: try User(from: &row), authenticatedAt: authenticatedAt, lastUsedAt: lastUsedAt)
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

    /// Ends the session of a cookie, if there is one.
    package func endWebSession(_ cookie: String, in transaction: AccountsTransaction) throws {
        try transaction.connection.execute(
            "DELETE FROM web_sessions WHERE digest = ?", Secret(presented: cookie).digest)
    }
}

extension AccountsTransaction {
    /// Inserts a new session of a locked user.
    func insertWebSession(for user: User.ID, _ provider: Provider) throws -> Secret {
        let cookie = Secret(.plain)
        try connection.execute(
            """
            INSERT INTO web_sessions (digest, user_id, provider, created_at, last_used_at, expires_at)
            VALUES (?, ?, ?, ?, ?, ?)
            """, cookie.digest, user, provider.rawValue, now, now, now + WebSession.lifetime)
        return cookie
    }
}
