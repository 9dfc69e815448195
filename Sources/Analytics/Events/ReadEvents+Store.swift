import MariaDB

/// How the rows that a filter selects are found in `events`.
struct EventSelection {
    enum Path {
        case apps
        case session(UUID)
        /// By record: the user asked for, and the tombstones that point at that user.
        case records([Record.ID])
        /// By app: the user has too many tombstones to look them up one by one.
        case owners([Record.ID])
    }

    /// Has at least one.
    var apps: [App.ID]
    var path: Path

    /// If a user has more records than this, the apps' events are read instead.
    static let mostRecords = 256
}

extension Connection {
    /// - Returns: nil if there is nothing to show.
    func selection(of filter: EventFilter, _ team: Team.ID) throws -> EventSelection? {
        let apps = try visibleApps(of: team, in: filter.scope)
        if apps.isEmpty { return nil }
        guard let user = filter.user else {
            return EventSelection(apps: apps.map(\.id), path: filter.session.map { .session($0) } ?? .apps)
        }
        return try records(of: user, in: Set(apps.map(\.project))).map {
            EventSelection(apps: apps.map(\.id), path: $0)
        }
    }

    /// A claimed id names nobody (analytics §4.2).
    private func records(of user: EndUserID, in projects: Set<Project.ID>) throws -> EventSelection.Path? {
        var sql = ComposedSQL(
            """
            SELECT u.id FROM app_users u WHERE u.user_id = ? AND u.merged_into IS NULL AND u.project_id IN
            """, user)
        sql.append(" ", oneOf: projects.sorted())
        let owners: [Record.ID] = try all(sql) { row in try row.read() }
        if owners.isEmpty { return nil }
        var tombstones = ComposedSQL("SELECT t.id FROM app_users t WHERE t.merged_into IN ")
        tombstones.append("", oneOf: owners)
        tombstones.append(" LIMIT ?", EventSelection.mostRecords)
        let records = try owners + all(tombstones) { row in try row.read() }
        return records.count > EventSelection.mostRecords ? .owners(owners) : .records(records)
    }

    /// The members of a `ListedEvent`, from `events e` with `joinOwners`.
    private static let selectEvents: StaticString = """
        SELECT e.id, e.app_id, e.client_event_id, e.session_id, COALESCE(o.user_id, u.user_id), e.api_key_id, e.level,
               e.source_module, e.message, e.screen_name, e.custom_attributes, e.environment, e.os_version,
               e.app_version, e.sdk_name, e.sdk_version, e.device_model, e.build_number, e.locale,
               e.preferred_language, e.country_code, e.is_dev, e.timestamp, e.received_at
        """
    private static let joinOwners: StaticString =
        "LEFT JOIN app_users u ON u.id = e.app_user_id LEFT JOIN app_users o ON o.id = u.merged_into"

    /// In no particular order.
    func events(_ page: PageKeys<ListedEvent.ID>) throws -> [ListedEvent] {
        guard let times = page.times else { return [] }
        var sql = ComposedSQL(Self.selectEvents)
        sql.append(" FROM events e FORCE INDEX (PRIMARY) ")
        sql.append(Self.joinOwners)
        sql.append(" WHERE e.id IN ", oneOfFew: page.ids)
        sql.append(" AND e.timestamp BETWEEN ? AND ?", times.lowerBound, times.upperBound)
        return try all(sql) { row in try ListedEvent(from: &row) }
    }

    /// - Throws: error 1969 if it takes longer than a worker may spend on it.
    func countEvents(_ selection: EventSelection, _ filter: EventFilter) throws -> EventCount {
        var rows = selection.rows(filter)
        if let condition = selection.condition(filter) { rows.append(condition) }
        // Resolves each user once, not each event.
        var sql = ComposedSQL(
            """
            SET STATEMENT max_statement_time = 2 FOR
            SELECT total.events, COUNT(DISTINCT COALESCE(u.merged_into, seen.id)), total.sessions
            FROM (SELECT COUNT(*) AS events, COUNT(DISTINCT e.session_id) AS sessions
            """)
        sql.append(" ")
        sql.append(rows)
        sql.append(") total LEFT JOIN (SELECT DISTINCT e.app_user_id AS id ")
        sql.append(rows)
        sql.append(") seen ON TRUE LEFT JOIN app_users u ON u.id = seen.id GROUP BY total.events, total.sessions")
        return try first(sql) { row in
            EventCount(count: try row.read(), uniqueUsers: try row.read(), uniqueSessions: try row.read())
        } ?? EventCount()
    }

    func event(_ id: ListedEvent.ID, of team: Team.ID) throws -> EventDetail? {
        var sql = ComposedSQL(Self.selectEvents)
        sql.append(", p.id FROM events e JOIN apps a ON a.id = e.app_id JOIN projects p ON p.id = a.project_id ")
        sql.append(Self.joinOwners)
        sql.append(
            """
             WHERE e.id = ? AND a.team_id = ? AND a.deleted_at IS NULL AND p.deleted_at IS NULL
            AND e.timestamp >= (SELECT h.horizon FROM retention_horizons h WHERE h.table_name = 'events')
            """, id, team)
        let found = try first(sql) { row in (try ListedEvent(from: &row), try row.read(Project.ID.self)) }
        guard let (event, project) = found else { return nil }
        let attachments = try all(
            """
            SELECT id, original_filename, content_type, size_bytes, uploaded_at FROM event_attachments
            WHERE event_id = ? AND deleted_at IS NULL ORDER BY created_at, id
            """, id
        ) { row in
            EventDetail.Attachment(
                id: try row.read(), originalFilename: try row.read(), contentType: try row.read(),
                sizeBytes: try row.read(), uploadedAt: try row.read())
        }
        return EventDetail(event: event, projectID: project, attachments: attachments)
    }
}

extension EventSelection {
    func walk(_ filter: EventFilter, _ order: ListOrder) -> ListWalk<ListedEvent.ID> {
        ListWalk(
            order: order, time: "e.timestamp", id: "e.id",
            sources: filter.dataMode.modes.flatMap { sources(filter, isDev: $0) }, condition: condition(filter),
            // Parsed attributes take about eight times the size of their text.
            size: (
                """
                SELECT page.id, page.sort_value,
                       OCTET_LENGTH(e.message) + COALESCE(OCTET_LENGTH(e.source_module), 0)
                           + 8 * COALESCE(OCTET_LENGTH(e.custom_attributes), 0)
                FROM
                """,
                " STRAIGHT_JOIN events e ON e.id = page.id AND e.timestamp = page.sort_value"
            ))
    }

    private func sources(_ filter: EventFilter, isDev: Bool) -> [ComposedSQL] {
        func source(_ sql: StaticString, _ key: any Bindable) -> ComposedSQL {
            var sql = ComposedSQL(sql, key, isDev)
            sql.append(within: filter)
            return sql
        }
        switch path {
        case .apps, .owners:
            return apps.map { app in
                source("FROM events e FORCE INDEX (events_app) WHERE e.app_id = ? AND e.is_dev = ?", app)
            }
        case .session(let session):
            return [
                source("FROM events e FORCE INDEX (events_session) WHERE e.session_id = ? AND e.is_dev = ?", session)
            ]
        case .records(let records):
            return records.map { record in
                source("FROM events e FORCE INDEX (events_user) WHERE e.app_user_id = ? AND e.is_dev = ?", record)
            }
        }
    }

    /// All sources in one statement, for a count: `FROM … WHERE …`.
    func rows(_ filter: EventFilter) -> ComposedSQL {
        var sql: ComposedSQL
        switch path {
        case .apps, .owners:
            sql = ComposedSQL("FROM events e FORCE INDEX (events_app)")
            sql.append(" WHERE e.app_id IN ", oneOf: apps)
        case .session(let session):
            sql = ComposedSQL("FROM events e FORCE INDEX (events_session) WHERE e.session_id = ?", session)
        case .records(let records):
            sql = ComposedSQL("FROM events e FORCE INDEX (events_user)")
            sql.append(" WHERE e.app_user_id IN ", oneOf: records)
        }
        sql.append(" AND e.is_dev IN ", oneOf: filter.dataMode.modes)
        sql.append(within: filter)
        return sql
    }

    /// The conditions that are checked row by row.
    func condition(_ filter: EventFilter) -> ComposedSQL? {
        var sql = ComposedSQL("")
        switch path {
        case .apps: break
        case .session, .records: sql.append(" AND e.app_id IN ", oneOf: apps)
        case .owners(let owners):
            // A subquery, because the server might start with the other table of a join.
            sql.append(
                """
                 AND (SELECT COALESCE(t.merged_into, t.id) FROM app_users t WHERE t.id = e.app_user_id) IN
                """)
            sql.append(" ", oneOf: owners)
        }
        if filter.user != nil, let session = filter.session { sql.append(" AND e.session_id = ?", session) }
        if !filter.levels.isEmpty {
            sql.append(" AND e.level IN ", oneOf: filter.levels.map(\.rawValue).sorted())
        }
        if let environment = filter.environment { sql.append(" AND e.environment = ?", environment) }
        if let screenName = filter.screenName { sql.append(" AND e.screen_name = ?", screenName) }
        return sql.isEmpty ? nil : sql
    }
}

extension ComposedSQL {
    /// Restricts `events e` to the filter's times and to rows after the horizon.
    fileprivate mutating func append(within filter: EventFilter) {
        append(" AND e.timestamp >= (SELECT h.horizon FROM retention_horizons h WHERE h.table_name = 'events')")
        if let since = filter.since { append(" AND e.timestamp >= ?", since) }
        if let until = filter.until { append(" AND e.timestamp <= ?", until) }
    }
}
