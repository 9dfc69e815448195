import JOSE
import JSON
package import MariaDB
import OpenSSL
import Text
package import Time

/// What a relying party is to be told with a logout_token: that one session of a sub ended, or every one (OpenID Connect
/// Back-Channel Logout 1.0, accounts §3.7).
struct LogoutNotice: Equatable {
    var application: Application.ID
    /// The grant's, frozen.
    var sub: String
    /// Nil: every session of the sub.
    var sid: SessionID?
}

/// A notice that is being sent.
package struct BackchannelLogout: Sendable {
    package typealias ID = Identifier<BackchannelLogout>

    package let id: ID
    /// `backchannel_logout_uri`
    package let url: String
    /// 1…5
    package let attempt: Int
    let application: Application.ID
    let clientID: String
    let sub: String
    let sid: SessionID?
    let lease: [UInt8]

    /// After each failure but the last.
    static let waits: [Duration] = [.seconds(10), .seconds(60), .seconds(600), .seconds(3600)]
    /// How long whoever claimed it may take to send it and to say what became of it.
    package static let lease = Duration.seconds(60)
    static let tokenLifetime = Duration.seconds(120)
}

extension Accounts {
    /// The logout_token of one attempt, signed now.
    package func logoutToken(for logout: BackchannelLogout, _ connection: Connection) throws -> String {
        let now = clock.now
        var claims: [(String, JSONValue)] = [
            ("iss", .string(settings.issuer)), ("aud", .string(logout.clientID)), ("iat", .integer(now.seconds)),
            ("exp", .integer((now + BackchannelLogout.tokenLifetime).seconds)),
            ("jti", .string(Base64URL.encode(randomBytes(16)))),
            ("events", ["http://schemas.openid.net/event/backchannel-logout": [:]]), ("sub", .string(logout.sub)),
        ]
        if let sid = logout.sid { claims.append(("sid", .string(sid.text))) }
        return try signingKeys.signer(connection).sign(JSONValue.object(JSONObject(claims)), type: "logout+jwt")
    }
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
            try connection.execute(
                """
                INSERT INTO logout_tokens (application_id, sub, sid, next_attempt_at, created_at)
                SELECT id, ?, ?, ?, ? FROM applications WHERE id = ? AND backchannel_logout_uri IS NOT NULL
                """, notice.sub, notice.sid, now, now, notice.application)
        }
    }

    /// Takes due notices, the oldest first, so that nobody else sends them during the lease. Those that others are taking
    /// are skipped, those of applications that want none any more, or are not active, are forgotten.
    ///
    /// - Parameter time: the one that leases and waits are counted by.
    package func claimLogouts(atMost count: Int, at time: Timestamp) throws -> [BackchannelLogout] {
        let lease = randomBytes(16)
        // A subquery's rows are not locked.
        let due = try connection.all(
            """
            SELECT t.id,
                   (SELECT a.backchannel_logout_uri FROM applications a
                    WHERE a.id = t.application_id AND a.status = 'active'),
                   t.attempts, t.application_id, (SELECT a.client_id FROM applications a WHERE a.id = t.application_id),
                   t.sub, t.sid
            FROM logout_tokens t
            WHERE t.next_attempt_at <= ? ORDER BY t.next_attempt_at, t.id LIMIT ? FOR UPDATE SKIP LOCKED
            """, time, count
        ) { row in
            (
                id: try row.read(BackchannelLogout.ID.self), url: try row.read(String?.self),
                attempts: try row.read(Int.self), application: try row.read(Application.ID.self),
                clientID: try row.read(String.self), sub: try row.read(String.self),
                sid: try row.read([UInt8]?.self).map(SessionID.init(bytes:))
            )
        }
        var claimed: [BackchannelLogout] = []
        for row in due.sorted(by: { $0.id < $1.id }) {
            guard let url = row.url else {
                try connection.execute("DELETE FROM logout_tokens WHERE id = ?", row.id)
                continue
            }
            try connection.execute(
                "UPDATE logout_tokens SET lease = ?, next_attempt_at = ? WHERE id = ?", lease,
                time + BackchannelLogout.lease, row.id)
            claimed.append(
                BackchannelLogout(
                    id: row.id, url: url, attempt: row.attempts + 1, application: row.application,
                    clientID: row.clientID, sub: row.sub, sid: row.sid, lease: lease))
        }
        return claimed
    }

    /// Records the outcome of an attempt. A notice that was taken, or whose last attempt failed, is deleted.
    ///
    /// A success counts even if the lease has passed to another dispatcher; a failure does not.
    ///
    /// - Parameter time: as for `claimLogouts`.
    /// - Returns: whether it was the last attempt, and failed.
    @discardableResult
    package func record(_ logout: BackchannelLogout, isTaken: Bool, at time: Timestamp) throws -> Bool {
        if isTaken {
            try connection.execute("DELETE FROM logout_tokens WHERE id = ?", logout.id)
            return false
        }
        guard logout.attempt <= BackchannelLogout.waits.count else {
            return try connection.execute(
                "DELETE FROM logout_tokens WHERE id = ? AND lease = ?", logout.id, logout.lease
            ).affectedRows > 0
        }
        try connection.execute(
            """
            UPDATE logout_tokens SET attempts = attempts + 1, next_attempt_at = ?, lease = NULL WHERE id = ? AND lease = ?
            """, time + BackchannelLogout.waits[logout.attempt - 1], logout.id, logout.lease)
        return false
    }
}
