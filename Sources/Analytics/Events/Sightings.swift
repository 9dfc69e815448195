import MariaDB
import Time

/// What events tell about the clients they come from: of each fact the first that is told.
private struct SeenClient {
    private(set) var appVersion: String?
    private(set) var sdkName: String?
    private(set) var sdkVersion: String?
    private(set) var locale: String?
    private(set) var preferredLanguage: String?

    init(_ events: [PlacedEvent]) {
        for placed in events {
            let event = placed.event
            if appVersion == nil { appVersion = event.client.appVersion }
            if sdkName == nil { sdkName = event.client.sdkName }
            if sdkVersion == nil { sdkVersion = event.client.sdkVersion }
            if locale == nil { locale = event.client.locale }
            if preferredLanguage == nil { preferredLanguage = event.client.preferredLanguage }
        }
    }
}

extension AnalyticsTransaction {
    /// The users of these events were seen now, in this app and with these clients (analytics §8.4). What a user's own events
    /// do not tell is taken from the first event of the batch that does.
    func noteSightings(in events: [PlacedEvent], from source: EventSource) throws {
        let owned = Dictionary(grouping: events) { $0.owner }
        let batch = SeenClient(events)
        var sightings: [[(any Bindable)?]] = []
        var visits: [[(any Bindable)?]] = []
        for owner in owned.keys.compactMap(\.self).sorted() {
            let events = owned[owner] ?? []
            let own = SeenClient(events)
            let isDev = source.app.platform == .backend ? nil : events.contains { $0.event.isDev }
            sightings.append([
                now, source.countryCode, own.appVersion ?? batch.appVersion, own.sdkName ?? batch.sdkName,
                own.sdkVersion ?? batch.sdkVersion, own.locale ?? batch.locale,
                own.preferredLanguage ?? batch.preferredLanguage, isDev, owner,
            ])
            visits.append([owner, source.app.id, now, now])
        }
        try connection.executeMany(
            """
            UPDATE app_users SET
                last_seen_at = ?, last_country_code = COALESCE(?, last_country_code),
                last_app_version = COALESCE(?, last_app_version), last_sdk_name = COALESCE(?, last_sdk_name),
                last_sdk_version = COALESCE(?, last_sdk_version), last_locale = COALESCE(?, last_locale),
                last_preferred_language = COALESCE(?, last_preferred_language), is_dev = COALESCE(?, is_dev)
            WHERE id = ?
            """, sightings)
        try connection.executeMany(
            """
            INSERT INTO app_user_apps (app_user_id, app_id, first_seen_at, last_seen_at) VALUES (?, ?, ?, ?)
            ON DUPLICATE KEY UPDATE last_seen_at = VALUES(last_seen_at)
            """, visits)
    }
}
