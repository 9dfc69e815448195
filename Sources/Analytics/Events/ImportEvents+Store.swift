import MariaDB
import Time

extension AnalyticsTransaction {
    /// The app's live rows with these keys.
    func storedEvents(_ keys: Set<EventKey>, of app: App) throws -> [StoredEvent] {
        if keys.isEmpty { return [] }
        let times = keys.map(\.timestamp)
        let pairs = keys.map { [$0.clientEventID.digits, String($0.timestamp.iso8601Milliseconds.dropLast())] }
        return try connection.all(
            """
            SELECT e.id, e.client_event_id, e.timestamp, e.app_user_id,
                   COALESCE(o.id, u.id), COALESCE(o.user_id, u.user_id)
            FROM JSON_TABLE(?, '$[*]' COLUMNS (
                id CHAR(32) CHARACTER SET ascii PATH '$[0]' ERROR ON ERROR,
                timestamp DATETIME(3) PATH '$[1]' ERROR ON ERROR)) j
            STRAIGHT_JOIN events e FORCE INDEX (events_client_event)
                ON e.app_id = ? AND e.client_event_id = UNHEX(j.id) AND e.timestamp = j.timestamp
            LEFT JOIN app_users u ON u.id = e.app_user_id
            LEFT JOIN app_users o ON o.id = u.merged_into
            WHERE e.timestamp BETWEEN ? AND ?
              AND e.timestamp >= (SELECT h.horizon FROM retention_horizons h WHERE h.table_name = 'events')
            """, list(pairs), app.id, times.min(), times.max()
        ) { row in
            StoredEvent(
                id: try row.read(), clientEventID: try row.read(), timestamp: try row.read(),
                record: try row.read(), owner: try StoredEvent.Owner(from: &row))
        }
    }

    /// Locks rows. Returns false if one of them has changed since it was read.
    func lockUnchanged(_ rows: [StoredEvent]) throws -> Bool {
        if rows.isEmpty { return true }
        let times = rows.map(\.timestamp)
        let locked = try connection.all(
            """
            SELECT e.id, e.timestamp, e.app_user_id
            FROM JSON_TABLE(?, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET ascii PATH '$' ERROR ON ERROR)) j
            STRAIGHT_JOIN events e ON e.id = UNHEX(j.id)
            WHERE e.timestamp BETWEEN ? AND ? FOR UPDATE
            """, list(rows.map(\.id).sorted().map(\.digits)), times.min(), times.max()
        ) { row in
            LockedRow(id: try row.read(), timestamp: try row.read(), record: try row.read())
        }
        return Set(locked) == Set(rows.map { LockedRow(id: $0.id, timestamp: $0.timestamp, record: $0.record) })
    }

    private struct LockedRow: Hashable {
        let id: UUID
        let timestamp: Timestamp
        let record: Record.ID?
    }

    /// Writes the data of imported events into stored rows.
    func update(_ rows: [(StoredEvent, PlacedEvent)], from source: EventSource) throws {
        try connection.executeMany(
            """
            UPDATE events SET
                session_id = ?, app_user_id = ?, api_key_id = ?, level = ?, source_module = ?, message = ?,
                screen_name = ?, custom_attributes = ?, environment = ?, os_version = ?, app_version = ?, sdk_name = ?,
                sdk_version = ?, device_model = ?, build_number = ?, locale = ?, preferred_language = ?,
                country_code = ?, is_dev = ?, timestamp = ?, received_at = ?
            WHERE id = ? AND timestamp = ?
            """, rows
        ) { row, placed in
            let event = placed.event
            return [
                event.sessionID, placed.owner, source.key, event.level.rawValue, event.sourceModule, event.message,
                event.screenName, event.attributes?.text, event.environment, event.client.osVersion,
                event.client.appVersion, event.client.sdkName, event.client.sdkVersion, event.client.deviceModel,
                event.client.buildNumber, event.client.locale, event.client.preferredLanguage, source.countryCode,
                event.isDev, event.timestamp, now, row.id, row.timestamp,
            ]
        }
    }
}

extension StoredEvent.Owner {
    /// Nil if an outer join found no row.
    fileprivate init?(from row: inout Row) throws(MariaDBError) {
        let (id, userID) = (try row.read(Record.ID?.self), try row.read(EndUserID?.self))
        guard let id, let userID else { return nil }
        self.init(id: id, userID: userID)
    }
}
