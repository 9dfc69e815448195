import JSON
import MariaDB
import Time

extension AnalyticsTransaction {
    /// The time span in which events without a timestamp look for duplicates (analytics §8.3).
    var recently: ClosedRange<Timestamp> { (now - .seconds(48 * 3600))...Timestamp.storable.upperBound }

    /// For each of these client ids, the time of the app's latest live event within a span. Ids without such an event
    /// are missing.
    ///
    /// However many events an id has, the statement reads one key in each month's partition, from its end. Therefore
    /// the statement begins at the start of the month, not at the start of the span.
    func latestStored(
        _ ids: Set<UUID>, of app: App, in span: ClosedRange<Timestamp>
    ) throws -> [UUID: Timestamp] {
        if ids.isEmpty { return [:] }
        var latest: [UUID: Timestamp] = [:]
        let stored = try connection.all(
            """
            SELECT UNHEX(j.id), (
                SELECT e.timestamp FROM events e FORCE INDEX (events_client_event)
                WHERE e.app_id = ? AND e.client_event_id = UNHEX(j.id) AND e.timestamp >= ?
                ORDER BY e.timestamp DESC LIMIT 1
            ), (SELECT h.horizon FROM retention_horizons h WHERE h.table_name = 'events')
            FROM JSON_TABLE(?, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET ascii PATH '$' ERROR ON ERROR)) j
            """, app.id, span.lowerBound.startOfMonth, list(ids.map(\.digits))
        ) { row in
            (id: try row.read(UUID.self), time: try row.read(Timestamp?.self), horizon: try row.read(Timestamp.self))
        }
        for (id, time, horizon) in stored {
            guard let time, time >= max(span.lowerBound, horizon) else { continue }
            latest[id] = time <= span.upperBound ? time : try latestStored(id, of: app, in: span)
        }
        return latest
    }

    /// The same for one id that has an event after the span. Few have, and the index finds the key.
    private func latestStored(_ id: UUID, of app: App, in span: ClosedRange<Timestamp>) throws -> Timestamp? {
        try connection.first(
            """
            SELECT e.timestamp FROM events e FORCE INDEX (events_client_event)
            WHERE e.app_id = ? AND e.client_event_id = ? AND e.timestamp BETWEEN ? AND ?
              AND e.timestamp >= (SELECT h.horizon FROM retention_horizons h WHERE h.table_name = 'events')
            ORDER BY e.timestamp DESC LIMIT 1
            """, app.id, id, span.lowerBound, span.upperBound
        ) { row in try row.read() }
    }

    /// - Returns: how many were inserted. The others existed already.
    func insert(_ events: [PlacedEvent], from source: EventSource) throws -> Int {
        try connection.executeMany(Self.insertingMissing, events) { placed, row in
            placed.forEachValue(from: source, at: now) { row.append(parameter: $0) }
        }.affectedRows
    }

    /// If the event exists already, the transaction fails at its next statement or at COMMIT, and runs again.
    func insertLater(_ event: PlacedEvent, from source: EventSource) throws {
        var arguments: Arguments = []
        arguments.reserveCapacity(24)
        event.forEachValue(from: source, at: now) { arguments.append($0) }
        try connection.executeLater(Self.inserting.with(arguments: arguments))
    }

    private static let inserting = ComposedSQL(
        """
        INSERT INTO events (
            id, app_id, client_event_id, session_id, app_user_id, api_key_id, level, source_module, message,
            screen_name, custom_attributes, environment, os_version, app_version, sdk_name, sdk_version,
            device_model, build_number, locale, preferred_language, country_code, is_dev, timestamp, received_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """)
    private static let insertingMissing = {
        var sql = inserting
        sql.append(" ON DUPLICATE KEY UPDATE id = id")
        return sql
    }()

    /// The events that were inserted.
    func storedIDs(of events: [PlacedEvent]) throws -> Set<UUID> {
        let times = events.map(\.event.timestamp)
        return Set(
            try connection.all(
                """
                SELECT e.id
                FROM JSON_TABLE(?, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET ascii PATH '$' ERROR ON ERROR)) j
                STRAIGHT_JOIN events e ON e.id = UNHEX(j.id)
                WHERE e.timestamp BETWEEN ? AND ?
                """, list(events.map(\.id.digits)), times.min(), times.max()
            ) { row in try row.read() })
    }

    /// Links attachments that were reserved before their event arrived. A concurrent reservation waits for the lock on
    /// the event, which was inserted before this statement, and then links itself.
    func linkAttachments(to events: [PlacedEvent], of app: App) throws {
        let named = events.filter { $0.event.clientEventID != nil }
        if named.isEmpty { return }
        // For few, a statement for each is faster than a look and a table of them.
        let areFew = named.count <= 2
        if try !areFew && !anyAttachmentWaits(of: app) { return }
        var clients: Set<UUID> = []
        // If several events have the same client id, the first one is linked.
        let links = named.filter { $0.event.clientEventID.map { clients.insert($0).inserted } ?? false }
        if areFew {
            try connection.executeLater(
                """
                UPDATE event_attachments FORCE INDEX (event_attachments_client_event)
                SET event_id = ?, app_user_id = COALESCE(app_user_id, ?)
                WHERE app_id = ? AND event_client_id = ? AND event_id IS NULL AND deleted_at IS NULL
                """, rows: links.map { [$0.id, $0.owner, app.id, $0.event.clientEventID] })
            return
        }
        // Hexadecimal digits and numbers need no escapes.
        let list = links.map { placed in
            let owner = placed.owner.map { String($0.rawValue) } ?? "null"
            return #"["\#(placed.id.digits)","\#(placed.event.clientEventID?.digits ?? "")",\#(owner)]"#
        }.joined(separator: ",")
        try connection.execute(
            """
            UPDATE JSON_TABLE(?, '$[*]' COLUMNS (
                event CHAR(32) CHARACTER SET ascii PATH '$[0]', client CHAR(32) CHARACTER SET ascii PATH '$[1]',
                owner BIGINT UNSIGNED PATH '$[2]')) j
            STRAIGHT_JOIN event_attachments a FORCE INDEX (event_attachments_client_event)
                ON a.app_id = ? AND a.event_client_id = UNHEX(j.client)
            SET a.event_id = UNHEX(j.event), a.app_user_id = COALESCE(a.app_user_id, j.owner)
            WHERE a.event_id IS NULL AND a.deleted_at IS NULL
            """, "[\(list)]", app.id)
    }

    /// Whether any attachment of the app has no event yet. If one is stored, nothing is locked, so that ingests do not wait for each
    /// other. Otherwise this waits for each one that another transaction is reserving, whose look for its event may be over.
    private func anyAttachmentWaits(of app: App) throws -> Bool {
        try connection.first(
            """
            SELECT CASE
                WHEN EXISTS (SELECT 1 FROM event_attachments FORCE INDEX (event_attachments_client_event)
                             WHERE app_id = ? AND event_id IS NULL) THEN TRUE
                ELSE EXISTS (SELECT 1 FROM event_attachments FORCE INDEX (event_attachments_client_event)
                             WHERE app_id = ? AND event_id IS NULL LOCK IN SHARE MODE)
            END
            """, app.id, app.id
        ) { row in try row.read() } ?? false
    }

    func noteSupportedLanguages(of events: [PlacedEvent], _ app: App) throws {
        guard let languages = events.lazy.compactMap(\.event.supportedLanguages).first else { return }
        let text = list(languages)
        let isKnown = try connection.first(
            "SELECT supported_languages <=> ? FROM apps WHERE id = ?", text, app.id
        ) { row in try row.read(Bool.self) }
        if isKnown == true { return }
        try connection.executeLater(
            "UPDATE apps SET supported_languages = ?, supported_languages_source = 'sdk' WHERE id = ?", text, app.id)
    }
}

extension PlacedEvent {
    /// In the order of `inserting`.
    @inline(__always)
    fileprivate func forEachValue(from source: EventSource, at now: Timestamp, _ body: (Parameter) -> Void) {
        body(id.parameter)
        body(source.app.id.parameter)
        body(event.clientEventID.parameter)
        body(event.sessionID.parameter)
        body(owner.parameter)
        body(source.key.parameter)
        body(event.level.rawValue.parameter)
        body(event.sourceModule.parameter)
        body(event.message.parameter)
        body(event.screenName.parameter)
        body((event.attributes?.text).parameter)
        body(event.environment.parameter)
        body(event.client.osVersion.parameter)
        body(event.client.appVersion.parameter)
        body(event.client.sdkName.parameter)
        body(event.client.sdkVersion.parameter)
        body(event.client.deviceModel.parameter)
        body(event.client.buildNumber.parameter)
        body(event.client.locale.parameter)
        body(event.client.preferredLanguage.parameter)
        body(source.countryCode.parameter)
        body(event.isDev.parameter)
        body(event.timestamp.parameter)
        body(now.parameter)
    }
}
