package import MariaDB
package import Time

/// The user who is signed in, as the authenticating read saw the account, and what they are signed in by.
package struct Caller: Sendable {
    package enum Credential: Sendable {
        case pak(PAK.ID)
        /// On the pages of the account (accounts §4.8).
        case webSession(WebSession.ID)
    }

    package var user: User
    package var credential: Credential
    package var device: Device.ID?
    /// If set, the PAK is bound to this application, and few endpoints accept it (accounts §1.1).
    package var application: Application.ID?
    package var scopes: Scopes
    /// When the PAK was issued, or the web session began. This counts as the time of the sign-in.
    package var authenticatedAt: Timestamp

    package var id: User.ID { user.id }
    /// Nil in a browser.
    var pak: PAK.ID? { if case .pak(let id) = credential { id } else { nil } }
    /// Only in a browser.
    var webSession: WebSession.ID? { if case .webSession(let id) = credential { id } else { nil } }
    var actor: AuditEntry.Actor { .user(user.id) }
}

extension Caller {
    /// Whoever is signed in in a browser. They may do what a full PAK may, at the pages of their account.
    package init(_ session: WebSession) {
        self.init(
            user: session.user, credential: .webSession(session.id), scopes: Scopes(PAK.fullScopesText),
            authenticatedAt: session.authenticatedAt)
    }
}

extension Caller.Credential {
    /// What counts tries by it.
    var name: String {
        switch self {
        case .pak(let id): "pak \(id.rawValue)"
        case .webSession(let id): "web session \(id.rawValue)"
        }
    }
}

extension Accounts {
    /// Reads the caller that a PAK belongs to, with one indexed read.
    ///
    /// - Throws: `invalidToken` if the PAK is unknown, expired or revoked, or its user is deleted.
    package func authenticate(_ presented: String, _ connection: Connection) throws -> Caller {
        let secret = Secret(presented: presented)
        let found = try connection.first(
            """
            SELECT p.id, p.device_id, p.application_id, p.scopes, p.created_at,
                   u.id, u.anonymous, u.previously_anonymous, u.name, u.nickname, u.contact_email, u.login_email,
                   u.login_email_authoritative, u.role, u.created_at, u.last_active_at, u.deleted_at, u.purge_at
            FROM paks p JOIN users u ON u.id = p.user_id WHERE p.digest = ? AND p.revoked_at IS NULL
            """, secret.digest
        ) { row in
            let pak = try LivePAK(from: &row)
            return Caller(try User(from: &row), pak)
        }
        guard let found, found.user.deletedAt == nil, !isExpired(issuedAt: found.authenticatedAt, at: clock.now) else {
            throw Failure.invalidToken
        }
        return found
    }

    /// A PAK whose caller a rule reads.
    ///
    /// - Parameter check: throws if the caller may not do what the request asks for.
    package func present(_ presented: String, check: @escaping (Caller) throws -> Void) -> PresentedPAK {
        PresentedPAK(digest: Secret(presented: presented).digest) { caller, now in
            if self.isExpired(issuedAt: caller.authenticatedAt, at: now) { throw Failure.invalidToken }
            try check(caller)
        }
    }

    private func isExpired(issuedAt: Timestamp, at now: Timestamp) -> Bool {
        settings.pakLifetime.map { issuedAt + $0 <= now } ?? false
    }

    /// Updates `last_active_at` of a user who was last seen an hour ago or more. If the row is locked, nothing is
    /// written: the request must not wait for that.
    package func noteActivity(of caller: Caller, _ connection: Connection) throws {
        let now = clock.now
        guard caller.user.isDueForActivity(at: now) else { return }
        try connection.execute(
            """
            SET STATEMENT innodb_lock_wait_timeout = 0 FOR
            UPDATE users SET last_active_at = ? WHERE id = ? AND last_active_at < ?
            """, now, caller.id, now)
    }
}

/// What the row of a PAK says of its caller.
struct LivePAK {
    let id: PAK.ID
    let device: Device.ID?
    let application: Application.ID?
    let scopes: Scopes
    let issuedAt: Timestamp

    /// - Parameter row: `p.id, p.device_id, p.application_id, p.scopes, p.created_at`.
    init(from row: inout Row) throws {
        id = try row.read()
        device = try row.read()
        application = try row.read()
        scopes = Scopes(try row.read(String.self))
        issuedAt = try row.read()
    }
}

extension Caller {
    init(_ user: User, _ pak: LivePAK) {
        self.init(
            user: user, credential: .pak(pak.id), device: pak.device, application: pak.application, scopes: pak.scopes,
            authenticatedAt: pak.issuedAt)
    }
}
