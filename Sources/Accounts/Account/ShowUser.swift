package import MariaDB
package import Time

/// An account and everything that belongs to it, as an operator sees it. It has no secrets and no digests.
package struct UserSummary: Sendable {
    /// A sign-in at a provider.
    package struct IdentityLine: Sendable {
        package var provider: String
        package var subject: String
        package var email: String?
        package var emailVerified: Bool
        package var linkedAt: Timestamp
    }

    package struct DeviceLine: Sendable {
        package var id: Int
        package var uuid: String
        package var platform: String
        /// False if only a sign-in can open the device again.
        package var hasSecret: Bool
        package var lastSeenAt: Timestamp
    }

    /// A sub of an account that this one absorbed, by a merge or a swap.
    package struct AbsorbedSubLine: Sendable {
        package var clientID: String
        package var sub: String
        package var via: String
        package var wasAnonymous: Bool
        package var occurredAt: Timestamp
    }

    package struct GrantLine: Sendable {
        package var clientID: String
        /// Of the application.
        package var name: String
        package var sub: String
        package var scopes: [String]
        package var createdAt: Timestamp
        package var revokedAt: Timestamp?
    }

    /// The newest that an account has of one kind.
    package struct Lines<Line: Sendable>: Sendable {
        /// The oldest first.
        package let lines: [Line]
        /// Whether there are older ones.
        package let hasMore: Bool

        /// - Parameter found: the newest first, and one more than was asked for, if there is one.
        fileprivate init(_ found: [Line], atMost limit: Int) {
            lines = found.prefix(limit).reversed()
            hasMore = found.count > limit
        }
    }

    package var user: User
    /// How this account was merged into another.
    package var absorption: ListedMerge?
    /// Merges into this account that stand.
    package var links: Lines<ListedMerge>
    /// Those at the newest applications.
    package var absorbedSubs: Lines<AbsorbedSubLine>
    package var identities: Lines<IdentityLine>
    package var devices: Lines<DeviceLine>
    /// Those at the newest applications.
    package var grants: Lines<GrantLine>
    package var livePAKs: Int
    package var webSessions: Int
    package var pendingAgentApprovals: Int
    package var pushApprovals: Int

    /// No limit. One more can still be asked for.
    package static let all = Int(Int32.max)
}

extension Connection {
    /// Call it in a `snapshot`: it runs several queries, each of which reads what an index has of this user.
    ///
    /// - Parameter limit: of the lines of each kind. However many there are, no more are read.
    package func userSummary(_ id: User.ID, atMost limit: Int = UserSummary.all) throws -> UserSummary? {
        let sql = ComposedSQL(select: User.columns, from: "users u WHERE u.id = ?", id)
        guard let user = try first(sql, read: { row in try User(from: &row) }) else { return nil }
        return UserSummary(
            user: user,
            absorption: try merge(ofAbsorbed: id),
            links: UserSummary.Lines(try standingMerges(into: id, limit: limit + 1), atMost: limit),
            absorbedSubs: UserSummary.Lines(try absorbedSubLines(of: id, limit + 1), atMost: limit),
            identities: UserSummary.Lines(try identityLines(of: id, limit + 1), atMost: limit),
            devices: UserSummary.Lines(try deviceLines(of: id, limit + 1), atMost: limit),
            grants: UserSummary.Lines(try grantLines(of: id, limit + 1), atMost: limit),
            livePAKs: try first("SELECT COUNT(*) FROM paks WHERE user_id = ? AND revoked_at IS NULL", id) { row in
                try row.read()
            } ?? 0,
            webSessions: try first("SELECT COUNT(*) FROM web_sessions WHERE user_id = ?", id) { row in
                try row.read()
            } ?? 0,
            pendingAgentApprovals: try first(
                "SELECT COUNT(*) FROM agent_approvals WHERE user_id = ? AND status = 'pending'", id
            ) { row in try row.read() } ?? 0,
            pushApprovals: try pushApprovals(naming: id).count)
    }

    private func absorbedSubLines(of user: User.ID, _ limit: Int) throws -> [UserSummary.AbsorbedSubLine] {
        try all(
            """
            SELECT a.client_id, s.sub, s.via, s.was_anonymous, s.occurred_at
            FROM (SELECT * FROM absorbed_subs FORCE INDEX (absorbed_subs_canonical)
                  WHERE canonical_user_id = ? ORDER BY application_id DESC, sub DESC LIMIT ?) s
            STRAIGHT_JOIN applications a ON a.id = s.application_id
            ORDER BY s.application_id DESC, s.sub DESC
            """, user, limit
        ) { row in
            UserSummary.AbsorbedSubLine(
                clientID: try row.read(), sub: try row.read(), via: try row.read(), wasAnonymous: try row.read(),
                occurredAt: try row.read())
        }
    }

    private func identityLines(of user: User.ID, _ limit: Int) throws -> [UserSummary.IdentityLine] {
        try all(
            """
            SELECT provider, sub, email, email_verified, linked_at FROM identities FORCE INDEX (identities_user)
            WHERE user_id = ? ORDER BY id DESC LIMIT ?
            """, user, limit
        ) { row in
            UserSummary.IdentityLine(
                provider: try row.read(), subject: try row.read(), email: EmailAddress.present(try row.read()),
                emailVerified: try row.read(), linkedAt: try row.read())
        }
    }

    private func deviceLines(of user: User.ID, _ limit: Int) throws -> [UserSummary.DeviceLine] {
        try all(
            """
            SELECT id, device_uuid, platform, secret_digest IS NOT NULL, last_seen_at
            FROM devices FORCE INDEX (devices_user) WHERE user_id = ? ORDER BY id DESC LIMIT ?
            """, user, limit
        ) { row in
            UserSummary.DeviceLine(
                id: try row.read(), uuid: try row.read(), platform: try row.read(), hasSecret: try row.read(),
                lastSeenAt: try row.read())
        }
    }

    private func grantLines(of user: User.ID, _ limit: Int) throws -> [UserSummary.GrantLine] {
        try all(
            """
            SELECT a.client_id, a.name, g.sub, g.scopes, g.created_at, g.revoked_at
            FROM (SELECT * FROM grants FORCE INDEX (grants_user)
                  WHERE user_id = ? ORDER BY application_id DESC, id DESC LIMIT ?) g
            STRAIGHT_JOIN applications a ON a.id = g.application_id
            ORDER BY g.application_id DESC, g.id DESC
            """, user, limit
        ) { row in
            UserSummary.GrantLine(
                clientID: try row.read(), name: try row.read(), sub: try row.read(),
                scopes: try row.read(String.self).split(separator: " ").map(String.init), createdAt: try row.read(),
                revokedAt: try row.read())
        }
    }
}
