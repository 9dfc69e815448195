import MariaDB

extension Connection {
    /// The members of an `EndUser`, from `app_users u`.
    private static let selectEndUsers: StaticString = """
        SELECT u.id, u.public_id, u.project_id, u.user_id, u.is_anonymous, u.properties, u.first_seen_at,
               u.last_seen_at, u.last_country_code, u.last_app_version, u.last_sdk_name, u.last_sdk_version,
               u.last_locale, u.last_preferred_language, u.total_revenue_usd_cents, u.revenue_synced_at, u.is_dev
        """

    /// - Parameter projects: at least one.
    func endUsers(
        _ filter: EndUserFilter, in projects: [Project.ID], after cursor: Cursor<Int64>?, _ limit: PageLimit
    ) throws -> [EndUser] {
        let branches = ComposedSQL.branches(for: projects).map { projects in
            var sql =
                switch filter.sort {
                case .lastSeen: ComposedSQL("SELECT u.id, u.last_seen_at AS sort_value FROM app_users u")
                case .firstSeen: ComposedSQL("SELECT u.id, u.first_seen_at AS sort_value FROM app_users u")
                }
            if let app = filter.scope.app {
                sql.append(" JOIN app_user_apps a ON a.app_user_id = u.id AND a.app_id = ?", app)
            }
            sql.append(" WHERE u.project_id IN ", oneOf: projects)
            sql.append(" AND u.merged_into IS NULL")
            sql.append(filter)
            if let cursor {
                switch filter.sort {
                case .lastSeen:
                    sql.append(
                        " AND u.last_seen_at <= ? AND (u.last_seen_at < ? OR u.id < ?)", cursor.time, cursor.time,
                        cursor.id)
                case .firstSeen:
                    sql.append(
                        " AND u.first_seen_at <= ? AND (u.first_seen_at < ? OR u.id < ?)", cursor.time, cursor.time,
                        cursor.id)
                }
            }
            sql.appendEnd(.descending, limit)
            return sql
        }
        var sql = ComposedSQL(Self.selectEndUsers)
        sql.append(" FROM ")
        sql.append(.page(branches, .descending, limit))
        sql.append(" STRAIGHT_JOIN app_users u ON u.id = page.id ORDER BY page.sort_value DESC, page.id DESC")
        return try all(sql) { row in try EndUser(from: &row) }
    }

    func endUser(_ id: UUID, of team: Team.ID) throws -> EndUser? {
        var sql = ComposedSQL(Self.selectEndUsers)
        sql.append(
            """
             FROM app_users u JOIN projects p ON p.id = u.project_id
            WHERE u.public_id = ? AND u.merged_into IS NULL AND p.team_id = ? AND p.deleted_at IS NULL
            """, id, team)
        return try first(sql) { row in try EndUser(from: &row) }
    }

    /// Fills in the users' apps and claims, each of which is one statement for all of them.
    func completed(_ users: [EndUser]) throws -> [EndUser] {
        if users.isEmpty { return [] }
        let records = list(users.map(\.record.rawValue))
        var apps: [AppUser.ID: [EndUser.AppVisit]] = [:]
        for (user, visit) in try appVisits(of: records) { apps[user, default: []].append(visit) }
        var claims: [AppUser.ID: [String]] = [:]
        for (user, id) in try self.claims(of: records) { claims[user, default: []].append(id) }
        return users.map { user in
            var user = user
            user.apps = apps[user.record] ?? []
            user.claimedFrom = claims[user.record]
            return user
        }
    }

    /// - Parameter records: a JSON array of surrogate keys.
    private func appVisits(of records: String) throws -> [(AppUser.ID, EndUser.AppVisit)] {
        try all(
            """
            SELECT v.app_user_id, v.app_id, a.name, v.first_seen_at, v.last_seen_at
            FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT UNSIGNED PATH '$')) j
            STRAIGHT_JOIN app_user_apps v ON v.app_user_id = j.id STRAIGHT_JOIN apps a ON a.id = v.app_id
            WHERE a.deleted_at IS NULL
            ORDER BY v.last_seen_at DESC, v.app_id
            """, records
        ) { row in
            let user: AppUser.ID = try row.read()
            let visit = EndUser.AppVisit(
                appID: try row.read(), appName: try row.read(), firstSeenAt: try row.read(),
                lastSeenAt: try row.read())
            return (user, visit)
        }
    }

    private func claims(of records: String) throws -> [(AppUser.ID, String)] {
        try all(
            """
            SELECT c.app_user_id, c.anonymous_id
            FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT UNSIGNED PATH '$')) j
            STRAIGHT_JOIN identity_claims c ON c.app_user_id = j.id
            ORDER BY c.claimed_at, c.id
            """, records
        ) { row in (try row.read(), try row.read()) }
    }
}

extension ComposedSQL {
    /// The conditions of a filter on `app_users u`, beside scope and tombstones.
    fileprivate mutating func append(_ filter: EndUserFilter) {
        if let search = filter.search { append(" AND LOCATE(LOWER(?), LOWER(u.user_id)) > 0", search) }
        if let isAnonymous = filter.isAnonymous { append(" AND u.is_anonymous = ?", isAnonymous) }
        if let isDev = filter.dataMode.isDev { append(" AND u.is_dev = ?", isDev) }
        if let since = filter.since { append(" AND u.last_seen_at >= ?", since) }
        if let until = filter.until { append(" AND u.last_seen_at <= ?", until) }
        if !filter.billing.isEmpty {
            // JSON columns have a collation that pads: 'trial ' would be 'trial'.
            append(
                """
                 AND CASE WHEN JSON_VALUE(u.properties, '$.rc_period_type') COLLATE utf8mb4_nopad_bin = 'trial' THEN 'trial'
                          WHEN JSON_VALUE(u.properties, '$.rc_subscriber') COLLATE utf8mb4_nopad_bin = 'true' THEN 'paid'
                          ELSE 'free' END IN
                """)
            append(" ", oneOf: filter.billing.map(\.rawValue).sorted())
        }
    }
}
