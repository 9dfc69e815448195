import MariaDB

extension Connection {
    /// The members of a `ListedEndUser`, from `app_users u`.
    private static let selectEndUsers: StaticString = """
        SELECT u.id, u.public_id, u.project_id, u.user_id, u.is_anonymous, u.properties, u.first_seen_at,
               u.last_seen_at, u.last_country_code, u.last_app_version, u.last_sdk_name, u.last_sdk_version,
               u.last_locale, u.last_preferred_language, u.total_revenue_usd_cents, u.revenue_synced_at, u.is_dev
        """

    /// How a list of users is read. If an app has few users, all of them are read. If it has many, each user of its
    /// project is checked for a visit to the app.
    func walk(_ filter: EndUserFilter, in projects: [Project.ID]) throws -> ListWalk<Int64> {
        let few = try filter.scope.app.flatMap { try hasFewUsers($0) ? $0 : nil }
        let modes = filter.dataMode.modes
        var condition = ComposedSQL("")
        condition.append(filter)
        if few == nil, let app = filter.scope.app {
            // A subquery, because the server might start with the other table of a join.
            condition.append(
                " AND (SELECT TRUE FROM app_user_apps a WHERE a.app_user_id = u.id AND a.app_id = ?) IS NOT NULL", app)
        }
        var sources: [ComposedSQL] = []
        if let few, !projects.isEmpty {
            var source = ComposedSQL(
                """
                FROM app_user_apps a FORCE INDEX (app_user_apps_app)
                STRAIGHT_JOIN app_users u FORCE INDEX (PRIMARY) ON u.id = a.app_user_id
                WHERE a.app_id = ? AND u.merged_into IS NULL
                """, few)
            source.append(" AND u.is_dev IN ", oneOf: modes)
            source.append(" AND u.project_id IN ", oneOf: projects)
            source.append(within: filter)
            sources = [source]
        } else {
            sources = modes.flatMap { isDev in
                projects.map { project in
                    let sql: StaticString =
                        switch filter.sort {
                        case .lastSeen:
                            """
                            FROM app_users u FORCE INDEX (app_users_last_seen)
                            WHERE u.project_id = ? AND u.merged_into IS NULL AND u.is_dev = ?
                            """
                        case .firstSeen:
                            """
                            FROM app_users u FORCE INDEX (app_users_first_seen)
                            WHERE u.project_id = ? AND u.merged_into IS NULL AND u.is_dev = ?
                            """
                        }
                    var source = ComposedSQL(sql, project, isDev)
                    if filter.sort == .lastSeen { source.append(within: filter) }
                    return source
                }
            }
            if filter.sort == .firstSeen { condition.append(within: filter) }
        }
        return ListWalk(
            time: filter.sort == .lastSeen ? "u.last_seen_at" : "u.first_seen_at", id: "u.id", sources: sources,
            condition: condition.isEmpty ? nil : condition, isShort: few != nil,
            // Claims count with the greatest length of an id, because their ids are not read here.
            size: (
                """
                SELECT page.id, page.sort_value,
                       COALESCE(OCTET_LENGTH(u.properties), 0)
                           + 255 * (SELECT COUNT(*) FROM identity_claims c WHERE c.app_user_id = page.id)
                FROM
                """,
                " STRAIGHT_JOIN app_users u ON u.id = page.id"
            ))
    }

    private func hasFewUsers(_ app: App.ID) throws -> Bool {
        let most = 2000
        let count = try first(
            """
            SELECT COUNT(*) FROM (
                SELECT a.app_user_id FROM app_user_apps a FORCE INDEX (app_user_apps_app) WHERE a.app_id = ? LIMIT ?) a
            """, app, most + 1
        ) { row in try row.read(Int.self) }
        return count.map { $0 <= most } ?? true
    }

    /// In no particular order.
    func endUsers(_ page: PageKeys<Int64>) throws -> [ListedEndUser] {
        if page.ids.isEmpty { return [] }
        var sql = ComposedSQL(Self.selectEndUsers)
        sql.append(" FROM app_users u FORCE INDEX (PRIMARY) WHERE u.id IN ", oneOfFew: page.ids)
        return try all(sql) { row in try ListedEndUser(from: &row) }
    }

    func endUser(_ id: UUID, of team: Team.ID) throws -> ListedEndUser? {
        var sql = ComposedSQL(Self.selectEndUsers)
        sql.append(
            """
             FROM app_users u JOIN projects p ON p.id = u.project_id
            WHERE u.public_id = ? AND u.merged_into IS NULL AND p.team_id = ? AND p.deleted_at IS NULL
            """, id, team)
        return try first(sql) { row in try ListedEndUser(from: &row) }
    }

    /// Adds the users' apps and claims: one statement each for all users.
    func completed(_ users: [ListedEndUser]) throws -> [ListedEndUser] {
        if users.isEmpty { return [] }
        let records = list(users.map(\.record.rawValue))
        var apps: [Record.ID: [ListedEndUser.AppVisit]] = [:]
        for (user, visit) in try appVisits(of: records) { apps[user, default: []].append(visit) }
        var claims: [Record.ID: [String]] = [:]
        for (user, id) in try self.claims(of: records) { claims[user, default: []].append(id) }
        return users.map { user in
            var user = user
            user.apps = apps[user.record] ?? []
            user.claimedFrom = claims[user.record]
            return user
        }
    }

    /// - Parameter records: a JSON array of surrogate keys.
    private func appVisits(of records: String) throws -> [(Record.ID, ListedEndUser.AppVisit)] {
        try all(
            """
            SELECT v.app_user_id, v.app_id, a.name, v.first_seen_at, v.last_seen_at
            FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT UNSIGNED PATH '$')) j
            STRAIGHT_JOIN app_user_apps v ON v.app_user_id = j.id STRAIGHT_JOIN apps a ON a.id = v.app_id
            WHERE a.deleted_at IS NULL
            ORDER BY v.last_seen_at DESC, v.app_id
            """, records
        ) { row in
            let user: Record.ID = try row.read()
            let visit = ListedEndUser.AppVisit(
                appID: try row.read(), appName: try row.read(), firstSeenAt: try row.read(),
                lastSeenAt: try row.read())
            return (user, visit)
        }
    }

    private func claims(of records: String) throws -> [(Record.ID, String)] {
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
    /// Restricts `app_users u` to the filter's times.
    fileprivate mutating func append(within filter: EndUserFilter) {
        if let since = filter.since { append(" AND u.last_seen_at >= ?", since) }
        if let until = filter.until { append(" AND u.last_seen_at <= ?", until) }
    }

    /// Conditions on `app_users u` that no index serves.
    fileprivate mutating func append(_ filter: EndUserFilter) {
        if let search = filter.search { append(" AND LOCATE(LOWER(?), LOWER(u.user_id)) > 0", search) }
        if let isAnonymous = filter.isAnonymous { append(" AND u.is_anonymous = ?", isAnonymous) }
        if !filter.billing.isEmpty {
            // JSON columns have a collation that pads, so 'trial ' would equal 'trial'.
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
