import MariaDB
import Text
import Time

/// When a user was last seen, and with what (analytics §8.4).
struct Sighting: Sendable {
    private let seenAt: Timestamp
    /// In the app that sends the events; nil if never.
    private let visitedAt: Timestamp?
    private let country: String?
    private let client: SeenClient
    private let isDev: Bool

    /// When seen, the visit, the last merge, and with what. A visit from before a merge does not count: an undo may take it back.
    init(from row: inout Row) throws(MariaDBError) {
        seenAt = try row.read()
        let (visit, merge) = (try row.read(Timestamp?.self), try row.read(Timestamp?.self))
        visitedAt = visit.flatMap { visit in merge.map { visit > $0 } ?? true ? visit : nil }
        country = try row.read()
        client = SeenClient(
            appVersion: try row.read(), sdkName: try row.read(), sdkVersion: try row.read(), locale: try row.read(),
            preferredLanguage: try row.read())
        isDev = try row.read()
    }

    /// Whether noting this again, so soon after, would change nothing else than the time.
    fileprivate func covers(_ client: SeenClient, _ country: String?, _ isDev: Bool?, at now: Timestamp) -> Bool {
        guard let visitedAt, isRecent(seenAt, now), isRecent(visitedAt, now) else { return false }
        return isDev.map { $0 == self.isDev } ?? true && isSame(country, self.country)
            && isSame(client.appVersion, self.client.appVersion) && isSame(client.sdkName, self.client.sdkName)
            && isSame(client.sdkVersion, self.client.sdkVersion) && isSame(client.locale, self.client.locale)
            && isSame(client.preferredLanguage, self.client.preferredLanguage)
    }
}

private let noteInterval = Duration.seconds(60)

/// A clock that went back does not keep the time from being noted.
private func isRecent(_ time: Timestamp, _ now: Timestamp) -> Bool {
    now < time + noteInterval && time < now + noteInterval
}

/// Nil stands for what stays.
private func isSame(_ new: String?, _ old: String?) -> Bool {
    guard let new else { return true }
    return old.map { $0.hasSameBytes(as: new) } ?? false
}

/// The facts that events state about their clients. The first event that states a fact decides.
struct SeenClient: Sendable {
    private(set) var appVersion: String?
    private(set) var sdkName: String?
    private(set) var sdkVersion: String?
    private(set) var locale: String?
    private(set) var preferredLanguage: String?
}

extension SeenClient {
    fileprivate init(_ events: [PlacedEvent]) {
        self.init()
        for placed in events {
            let client = placed.event.client
            if appVersion == nil { appVersion = client.appVersion }
            if sdkName == nil { sdkName = client.sdkName }
            if sdkVersion == nil { sdkVersion = client.sdkVersion }
            if locale == nil { locale = client.locale }
            if preferredLanguage == nil { preferredLanguage = client.preferredLanguage }
        }
    }

    fileprivate func completed(by batch: SeenClient) -> SeenClient {
        SeenClient(
            appVersion: appVersion ?? batch.appVersion, sdkName: sdkName ?? batch.sdkName,
            sdkVersion: sdkVersion ?? batch.sdkVersion, locale: locale ?? batch.locale,
            preferredLanguage: preferredLanguage ?? batch.preferredLanguage)
    }
}

extension AnalyticsTransaction {
    /// Notes that the users of these events were seen now, in this app and with these clients (analytics §8.4). If a
    /// user's own events lack a fact, it is taken from the first event of the batch that has it.
    ///
    /// - Parameter owners: the locked records. If nothing but the time is new for one, it is noted once a minute.
    func noteSightings(
        of owners: some Sequence<Record>, in events: [PlacedEvent], from source: EventSource
    ) throws {
        let owned = Dictionary(grouping: events) { $0.owner }
        let batch = SeenClient(events)
        var sightings: [Arguments] = []
        var visits: [Arguments] = []
        let records = Dictionary(owners.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
        for owner in owned.keys.compactMap(\.self).sorted() {
            let events = owned[owner] ?? []
            let client = SeenClient(events).completed(by: batch)
            let isDev = source.app.platform == .backend ? nil : events.contains { $0.event.isDev }
            if records[owner]?.sighting?.covers(client, source.countryCode, isDev, at: now) == true { continue }
            sightings.append([
                now, source.countryCode, client.appVersion, client.sdkName, client.sdkVersion, client.locale,
                client.preferredLanguage, isDev, owner,
            ])
            visits.append([owner, source.app.id, now, now])
        }
        try connection.executeLater(
            """
            UPDATE app_users SET
                last_seen_at = ?, last_country_code = COALESCE(?, last_country_code),
                last_app_version = COALESCE(?, last_app_version), last_sdk_name = COALESCE(?, last_sdk_name),
                last_sdk_version = COALESCE(?, last_sdk_version), last_locale = COALESCE(?, last_locale),
                last_preferred_language = COALESCE(?, last_preferred_language), is_dev = COALESCE(?, is_dev)
            WHERE id = ?
            """, rows: sightings)
        try connection.executeLater(
            """
            INSERT INTO app_user_apps (app_user_id, app_id, first_seen_at, last_seen_at) VALUES (?, ?, ?, ?)
            ON DUPLICATE KEY UPDATE last_seen_at = VALUES(last_seen_at)
            """, rows: visits)
    }
}
