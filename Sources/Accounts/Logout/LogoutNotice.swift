import MariaDB
import Time

/// What a relying party is to be told with a logout_token: that one session of a sub ended, or every one (OpenID Connect
/// Back-Channel Logout 1.0, accounts §3.7).
struct LogoutNotice: Equatable {
    var application: Application.ID
    /// The grant's, frozen.
    var sub: String
    /// Nil: every session of the sub.
    var sid: SessionID?
}

extension AccountsTransaction {
    /// Notes that a web session ended: each relying party that the person signed in to through it is told, once for each
    /// grant. What was disconnected since was told of that already.
    func emitLogouts(of session: SessionHandle) throws {
        let grants = try connection.all(
            """
            SELECT DISTINCT g.id, g.application_id, g.sub
            FROM authorization_codes c JOIN grants g ON g.id = c.grant_id
            WHERE c.session_handle = ? AND g.revoked_at IS NULL AND (c.refresh_family_id IS NOT NULL OR c.expires_at > ?)
            ORDER BY g.id
            """, session, now
        ) { row in
            _ = try row.read(Grant.ID.self)
            return (application: try row.read(Application.ID.self), sub: try row.read(String.self))
        }
        for grant in grants {
            emit(
                LogoutNotice(
                    application: grant.application, sub: grant.sub, sid: session.sid(at: grant.application)))
        }
    }

    /// Writes notices, in order of application ids, as far as the applications want them.
    func appendToLogoutTokens(_ notices: [LogoutNotice]) throws {
        for notice in notices.sorted(by: { $0.application < $1.application }) {
            let outcome = try connection.execute(
                """
                INSERT INTO logout_tokens (application_id, sub, sid, next_attempt_at, created_at)
                SELECT id, ?, ?, ?, ? FROM applications WHERE id = ? AND backchannel_logout_uri IS NOT NULL
                """, notice.sub, notice.sid, now, now, notice.application)
            if outcome.affectedRows > 0 { wakeDispatchers() }
        }
    }
}
