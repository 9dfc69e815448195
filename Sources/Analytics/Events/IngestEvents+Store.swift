import JSON
import MariaDB
import Time

extension AnalyticsTransaction {
    /// The horizon of `events` (analytics §14.2), which stays where it is until this transaction ends.
    func lockEventHorizon() throws -> Timestamp {
        try connection.first(
            "SELECT horizon FROM retention_horizons WHERE table_name = 'events' LOCK IN SHARE MODE"
        ) { row in try row.read() } ?? Timestamp(milliseconds: 0)
    }

    /// Where undated events look for their duplicates (analytics §8.3).
    var recently: ClosedRange<Timestamp> { (now - .seconds(48 * 3600))...Timestamp.storable.upperBound }

    /// The time of the app's latest live event with each of these client ids in a span. Ids without one are missing.
    ///
    /// Of an id one key is read in each month's partition, from its end, however many events have it. That is why the
    /// statement has the beginning of a month in place of that of the span.
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

    /// The same for an id that has an event after the span, which few have: one key that the index finds.
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

    /// - Returns: how many were inserted; the others were there.
    func insert(_ events: [PlacedEvent], from source: EventSource) throws -> Int {
        try connection.executeMany(
            """
            INSERT INTO events (
                id, app_id, client_event_id, session_id, app_user_id, api_key_id, level, source_module, message,
                screen_name, custom_attributes, environment, os_version, app_version, sdk_name, sdk_version,
                device_model, build_number, locale, preferred_language, country_code, is_dev, timestamp, received_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON DUPLICATE KEY UPDATE id = id
            """, events
        ) { placed in
            let event = placed.event
            return [
                placed.id, source.app.id, event.clientEventID, event.sessionID, placed.owner, source.key,
                event.level.rawValue, event.sourceModule, event.message, event.screenName, event.attributes?.text,
                event.environment, event.client.osVersion, event.client.appVersion, event.client.sdkName,
                event.client.sdkVersion, event.client.deviceModel, event.client.buildNumber, event.client.locale,
                event.client.preferredLanguage, source.countryCode, event.isDev, event.timestamp, now,
            ]
        }.affectedRows
    }

    /// Which of these events there are.
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

    func insertCopies(of events: [PlacedEvent], from source: EventSource) throws {
        var metrics: [(PlacedEvent, EventCopy.Metric)] = []
        var steps: [(PlacedEvent, String)] = []
        for placed in events {
            switch EventCopy(of: placed.event) {
            case .metric(let metric): metrics.append((placed, metric))
            case .step(let name): steps.append((placed, name))
            case nil: break
            }
        }
        try insert(metrics, from: source)
        try insert(steps, from: source)
    }

    private func insert(_ metrics: [(PlacedEvent, EventCopy.Metric)], from source: EventSource) throws {
        try connection.executeMany(
            """
            INSERT INTO metric_events (
                id, app_id, client_event_id, session_id, app_user_id, api_key_id, metric_slug, phase, tracking_id,
                duration_ms, error, attributes, environment, os_version, app_version, sdk_name, sdk_version,
                device_model, build_number, country_code, is_dev, timestamp, received_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, metrics
        ) { placed, metric in
            let event = placed.event
            return [
                placed.id, source.app.id, event.clientEventID, event.sessionID, placed.owner, source.key, metric.slug,
                metric.phase.rawValue, metric.trackingID, metric.durationMilliseconds, metric.error,
                event.attributes?.text ?? "{}", event.environment, event.client.osVersion, event.client.appVersion,
                event.client.sdkName, event.client.sdkVersion, event.client.deviceModel, event.client.buildNumber,
                source.countryCode, event.isDev, event.timestamp, now,
            ]
        }
    }

    private func insert(_ steps: [(PlacedEvent, String)], from source: EventSource) throws {
        try connection.executeMany(
            """
            INSERT INTO funnel_events (
                id, app_id, client_event_id, session_id, app_user_id, api_key_id, step_name, message, screen_name,
                custom_attributes, environment, os_version, app_version, sdk_name, sdk_version, device_model,
                build_number, country_code, is_dev, timestamp, received_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, steps
        ) { placed, name in
            let event = placed.event
            return [
                placed.id, source.app.id, event.clientEventID, event.sessionID, placed.owner, source.key, name,
                event.message, event.screenName, event.attributes?.text, event.environment, event.client.osVersion,
                event.client.appVersion, event.client.sdkName, event.client.sdkVersion, event.client.deviceModel,
                event.client.buildNumber, source.countryCode, event.isDev, event.timestamp, now,
            ]
        }
    }

    func add(to counters: [EventCounter: Int]) throws {
        try connection.executeMany(
            """
            INSERT INTO app_user_event_counts (app_user_id, month, n) VALUES (?, ?, ?)
            ON DUPLICATE KEY UPDATE n = n + VALUES(n)
            """, counters.sorted { $0.key < $1.key }.map { [$0.key.owner, $0.key.month, $0.value] })
    }

    /// Attachments that were reserved before their event came. One reserved meanwhile waits for our lock on the event, since
    /// the event was inserted before this looks.
    func linkAttachments(to events: [PlacedEvent], of app: App) throws {
        var clients: Set<UUID> = []
        let links = events.compactMap { placed -> JSONValue? in
            // Of several with one client id the first is linked.
            guard let client = placed.event.clientEventID, clients.insert(client).inserted else { return nil }
            return [
                .string(placed.id.digits), .string(client.digits),
                placed.owner.map { .integer($0.rawValue) } ?? .null,
            ]
        }
        if links.isEmpty { return }
        try connection.execute(
            """
            UPDATE JSON_TABLE(?, '$[*]' COLUMNS (
                event CHAR(32) CHARACTER SET ascii PATH '$[0]', client CHAR(32) CHARACTER SET ascii PATH '$[1]',
                owner BIGINT UNSIGNED PATH '$[2]')) j
            STRAIGHT_JOIN event_attachments a FORCE INDEX (event_attachments_client_event)
                ON a.app_id = ? AND a.event_client_id = UNHEX(j.client)
            SET a.event_id = UNHEX(j.event), a.app_user_id = COALESCE(a.app_user_id, j.owner)
            WHERE a.event_id IS NULL AND a.deleted_at IS NULL
            """, String(decoding: JSONValue.array(links).json(), as: UTF8.self), app.id)
    }

    func noteSupportedLanguages(of events: [PlacedEvent], _ app: App) throws {
        guard let languages = events.lazy.compactMap(\.event.supportedLanguages).first else { return }
        let text = list(languages)
        let isKnown = try connection.first(
            "SELECT supported_languages <=> ? FROM apps WHERE id = ?", text, app.id
        ) { row in try row.read(Bool.self) }
        if isKnown == true { return }
        try connection.execute(
            "UPDATE apps SET supported_languages = ?, supported_languages_source = 'sdk' WHERE id = ?", text, app.id)
    }
}
