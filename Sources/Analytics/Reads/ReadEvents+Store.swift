import Database
import MariaDB

/// Which rows of `events` a filter is looked up by.
struct EventSelection {
    var apps: [App.ID]
    /// The records of the user asked for, with the tombstones that were merged into them; nil: of anybody.
    var records: [AppUser.ID]?
}

extension Connection {
    /// - Returns: nil when there is nothing to show.
    func selection(of filter: EventFilter, _ team: Team.ID) throws -> EventSelection? {
        let apps = try visibleApps(of: team, in: filter.scope)
        if apps.isEmpty { return nil }
        let records = try filter.user.map { try self.records(of: $0, in: Set(apps.map(\.project))) }
        if let records, records.isEmpty { return nil }
        return EventSelection(apps: apps.map(\.id), records: records)
    }

    /// A claimed id names nobody (analytics §4.2).
    private func records(of user: EndUserID, in projects: Set<Project.ID>) throws -> [AppUser.ID] {
        var sql = ComposedSQL(
            """
            SELECT u.id FROM app_users u WHERE u.user_id = ? AND u.merged_into IS NULL AND u.project_id IN
            """, user)
        sql.append(" ", oneOf: projects.sorted())
        let owners: [AppUser.ID] = try all(sql) { row in try row.read() }
        if owners.isEmpty { return [] }
        var tombstones = ComposedSQL("SELECT t.id FROM app_users t WHERE t.merged_into IN ")
        tombstones.append("", oneOf: owners)
        return try owners + all(tombstones) { row in try row.read() }
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

    func events(
        _ selection: EventSelection, _ filter: EventFilter, _ order: ListOrder, after cursor: Cursor<ListedEvent.ID>?,
        _ limit: PageLimit
    ) throws -> [ListedEvent] {
        let branches = selection.branches(filter).map { condition in
            var sql = ComposedSQL("SELECT e.id, e.timestamp AS sort_value FROM events e WHERE ")
            sql.append(condition)
            sql.append(filter)
            if let cursor {
                switch order {
                case .ascending:
                    sql.append(
                        " AND e.timestamp >= ? AND (e.timestamp > ? OR e.id > ?)", cursor.time, cursor.time, cursor.id)
                case .descending:
                    sql.append(
                        " AND e.timestamp <= ? AND (e.timestamp < ? OR e.id < ?)", cursor.time, cursor.time, cursor.id)
                }
            }
            sql.appendEnd(order, limit)
            return sql
        }
        var sql = ComposedSQL(Self.selectEvents)
        sql.append(" FROM ")
        sql.append(.page(branches, order, limit))
        sql.append(" STRAIGHT_JOIN events e ON e.id = page.id AND e.timestamp = page.sort_value ")
        sql.append(Self.joinOwners)
        switch order {
        case .ascending: sql.append(" ORDER BY e.timestamp, e.id")
        case .descending: sql.append(" ORDER BY e.timestamp DESC, e.id DESC")
        }
        return try all(sql) { row in try ListedEvent(from: &row) }
    }

    func countEvents(_ selection: EventSelection, _ filter: EventFilter) throws -> EventCount {
        var sql = ComposedSQL(
            """
            SELECT COUNT(*), COUNT(DISTINCT COALESCE(u.merged_into, e.app_user_id)), COUNT(DISTINCT e.session_id)
            FROM events e LEFT JOIN app_users u ON u.id = e.app_user_id
            WHERE
            """)
        sql.append(" ")
        sql.append(selection.condition(filter))
        sql.append(filter)
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
        return EventDetail(event: event, project: project, attachments: attachments)
    }
}

extension EventSelection {
    /// What leads to the rows, as one condition.
    fileprivate func condition(_ filter: EventFilter) -> ComposedSQL {
        if let records { return Self.condition(records: records, apps) }
        if let session = filter.session { return Self.condition(session: session, apps) }
        return Self.condition(apps: apps)
    }

    /// The same as several conditions, each of which an index has in the order of event time.
    fileprivate func branches(_ filter: EventFilter) -> [ComposedSQL] {
        if let records { return ComposedSQL.branches(for: records).map { Self.condition(records: $0, apps) } }
        if let session = filter.session { return [Self.condition(session: session, apps)] }
        return ComposedSQL.branches(for: apps).map { Self.condition(apps: $0) }
    }

    private static func condition(records: [AppUser.ID], _ apps: [App.ID]) -> ComposedSQL {
        var sql = ComposedSQL("")
        sql.append("e.app_user_id IN ", oneOf: records)
        sql.append(" AND e.app_id IN ", oneOf: apps)
        return sql
    }

    private static func condition(session: UUID, _ apps: [App.ID]) -> ComposedSQL {
        var sql = ComposedSQL("e.session_id = ?", session)
        sql.append(" AND e.app_id IN ", oneOf: apps)
        return sql
    }

    private static func condition(apps: [App.ID]) -> ComposedSQL {
        var sql = ComposedSQL("")
        sql.append("e.app_id IN ", oneOf: apps)
        return sql
    }
}

extension ComposedSQL {
    /// The conditions of a filter on `events e`, beside those that lead to the rows.
    fileprivate mutating func append(_ filter: EventFilter) {
        append(" AND e.timestamp >= (SELECT h.horizon FROM retention_horizons h WHERE h.table_name = 'events')")
        if let since = filter.since { append(" AND e.timestamp >= ?", since) }
        if let until = filter.until { append(" AND e.timestamp <= ?", until) }
        if !filter.levels.isEmpty {
            append(" AND e.level IN ", oneOf: filter.levels.map(\.rawValue).sorted())
        }
        if filter.user != nil, let session = filter.session { append(" AND e.session_id = ?", session) }
        if let environment = filter.environment { append(" AND e.environment = ?", environment) }
        if let screenName = filter.screenName { append(" AND e.screen_name = ?", screenName) }
        if let isDev = filter.dataMode.isDev { append(" AND e.is_dev = ?", isDev) }
    }
}
