import JSON
import MariaDB
import Time

/// The consent of one user to one application, with the sub by which the application knows the user (accounts §2.2).
package struct Grant: Sendable {
    package typealias ID = Identifier<Grant>

    package var id: ID
    /// Never changes.
    package var sub: String
    package var scopes: Scopes
    package var isLive: Bool
}

extension Connection {
    /// The grant that a new authorization uses. Live grants come first, then the one whose sub is the user's own id,
    /// then the oldest.
    func grant(of user: User.ID, for application: Application.ID) throws -> Grant? {
        try first(
            """
            SELECT id, sub, scopes, revoked_at IS NULL FROM grants WHERE user_id = ? AND application_id = ?
            ORDER BY revoked_at IS NOT NULL, sub <> ?, id LIMIT 1
            """, user, application, String(user.rawValue)
        ) { row in try Grant(from: &row) }
    }
}

extension AccountsTransaction {
    /// Returns a live grant that covers the scopes. It widens or revives the given grant, or inserts a new one.
    ///
    /// - Parameter grant: locked.
    func ensureGrant(
        _ grant: Grant?, _ scopes: Scopes, of user: User, for application: Application
    ) throws -> Grant.ID {
        if let grant, grant.isLive {
            if !scopes.isCovered(by: grant.scopes) { try renewGrant(grant, grant.scopes.union(scopes)) }
            return grant.id
        }
        let sub: String
        let id: Grant.ID
        if let grant {
            try renewGrant(grant, scopes)
            (id, sub) = (grant.id, grant.sub)
        } else {
            let grant = try insertGrant(of: user.id, for: application.id, scopes)
            (id, sub) = (grant.id, grant.sub)
        }
        audit(
            .grantCreated, user: user.id, actor: .user(user.id),
            ["client_id": .string(application.clientID), "sub": .string(sub), "scopes": .string(scopes.text)])
        return id
    }

    /// The same as `Connection.grant`, locked.
    func lockGrant(of user: User.ID, for application: Application.ID) throws -> Grant? {
        try lockGrants(of: user, for: application).first
    }

    /// All grants, beginning with the one that a new authorization uses. The user must be locked, so that no grant can
    /// be added.
    func lockGrants(of user: User.ID, for application: Application.ID) throws -> [Grant] {
        try connection.all(
            """
            SELECT id, sub, scopes, revoked_at IS NULL FROM grants WHERE user_id = ? AND application_id = ?
            ORDER BY revoked_at IS NOT NULL, sub <> ?, id FOR UPDATE
            """, user, application, String(user.rawValue)
        ) { row in try Grant(from: &row) }
    }

    /// Keeps a grant live until the transaction ends. The lock is shared, so that several transactions can issue tokens
    /// at once.
    ///
    /// - Returns: false if the grant is revoked or gone.
    func lockForIssue(_ grant: Grant.ID) throws -> Bool {
        try connection.first(
            "SELECT 1 FROM grants WHERE id = ? AND revoked_at IS NULL LOCK IN SHARE MODE", grant
        ) { row in try row.read(Bool.self) } ?? false
    }

    func insertGrant(of user: User.ID, for application: Application.ID, _ scopes: Scopes) throws -> Grant {
        let sub = String(user.rawValue)
        let outcome = try connection.execute(
            "INSERT INTO grants (user_id, application_id, sub, scopes, created_at) VALUES (?, ?, ?, ?, ?)", user,
            application, sub, scopes.text, now)
        return Grant(id: Grant.ID(rawValue: Int64(outcome.lastInsertID)), sub: sub, scopes: scopes, isLive: true)
    }

    /// Writes the grant's scopes, and revives it if it is revoked.
    func renewGrant(_ grant: Grant, _ scopes: Scopes) throws {
        try connection.execute(
            """
            UPDATE grants SET scopes = ?, created_at = IF(revoked_at IS NULL, created_at, ?), revoked_at = NULL
            WHERE id = ?
            """, scopes.text, now, grant.id)
    }

    /// - Parameter fromAnonymous: whether the grant's user, who is locked, is anonymous.
    func insertCode(
        _ code: Secret, _ grant: Grant.ID, _ request: AuthorizationRequest, authenticatedAt: Timestamp,
        fromAnonymous: Bool, session: SessionHandle?
    ) throws {
        try connection.execute(
            """
            INSERT INTO authorization_codes (grant_id, digest, redirect_uri, code_challenge, nonce, scopes,
                                             authenticated_at, from_anonymous, session_handle, created_at, expires_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, grant, code.digest, request.redirectURI, request.codeChallenge, request.nonce, request.scope,
            authenticatedAt, fromAnonymous, session, now, now + AuthorizationCode.lifetime)
    }
}

extension AccountsTransaction {
    /// Marks the unused codes and device codes of a grant as used, so that new consent does not make them valid again.
    ///
    /// - Parameter grant: locked for writing, so that no code can be exchanged at the same time.
    func revokeCodes(of grant: Grant.ID) throws {
        try connection.execute(
            "UPDATE authorization_codes SET used_at = ? WHERE grant_id = ? AND used_at IS NULL", now, grant)
        try connection.execute(
            "UPDATE device_codes SET status = 'denied' WHERE grant_id = ? AND status = 'approved'", grant)
    }

    /// Marks the unused codes that were issued in a session as used, so that no sign-in begins after it ended.
    ///
    /// - Parameter session: of a locked row, so that no code can be issued at the same time.
    func revokeCodes(of session: SessionHandle) throws {
        try connection.execute(
            "UPDATE authorization_codes SET used_at = ? WHERE session_handle = ? AND used_at IS NULL", now, session)
    }

    /// The same, for sessions of a locked user. One without a handle has no codes.
    func revokeCodes(of sessions: [SessionHandle?]) throws {
        let handles = sessions.compactMap { $0 }
        if handles.isEmpty { return }
        var sql = ComposedSQL("UPDATE authorization_codes SET used_at = ? WHERE used_at IS NULL", now)
        sql.append(" AND session_handle IN ", oneOf: handles)
        try connection.execute(sql)
    }
}

extension Grant {
    fileprivate init(from row: inout Row) throws(MariaDBError) {
        id = try row.read()
        sub = try row.read()
        scopes = Scopes(try row.read())
        isLive = try row.read()
    }
}
