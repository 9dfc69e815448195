import JSON
import MariaDB
internal import Text
import Time

/// The row of `metric_events` or `funnel_events` that an event's message asks for (analytics §8.4).
package enum EventCopy: Equatable, Sendable {
    case metric(Metric)
    /// A step of a funnel, by name.
    case step(String)

    package struct Metric: Equatable, Sendable {
        package enum Phase: String, Sendable, CaseIterable {
            case start, complete, fail, cancel, record
        }

        package var slug: String
        package var phase: Phase
        package var trackingID: UUID?
        package var durationMilliseconds: Int?
        package var error: String?
    }

    private static let longestName = 255

    /// Nil if the event asks for no copy.
    package init?(of event: NewEvent) {
        if let rest = event.message.rest(after: "metric:") {
            guard let metric = Metric(rest, event.attributes) else { return nil }
            self = .metric(metric)
        } else if let name = event.message.rest(after: "step:") ?? event.message.rest(after: "track:") {
            if name.isEmpty || name.isLonger(than: Self.longestName) { return nil }
            self = .step(name)
        } else {
            return nil
        }
    }
}

extension EventCopy.Metric {
    /// - Parameter text: `<slug>:<phase>`.
    fileprivate init?(_ text: String, _ attributes: NewEvent.Attributes?) {
        guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")) else { return nil }
        let slug = text[..<colon]
        guard let phase = Phase(bytes: String(text.utf8[colon...].dropFirst()) ?? ""),
            (1...255).contains(slug.utf8.count),
            slug.utf8.allSatisfy(Self.isOfSlug)
        else { return nil }
        self.slug = String(slug)
        self.phase = phase
        let values = attributes?.values
        trackingID = (values?["tracking_id"]?.string).flatMap(UUID.init)
        durationMilliseconds = (values?["duration_ms"]?.string).flatMap(leadingInteger)
        error = values?["error"]?.string
    }

    private static func isOfSlug(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
        default: false
        }
    }
}

extension AnalyticsTransaction {
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
        // Retention deletes events after a day at the earliest, and may keep their copies for longer. An event that comes again then
        // is new, and has copies. Clocks differ, by less than half a day.
        let recent = now - .seconds(43_200)
        let old = (metrics.map(\.0.event) + steps.map(\.0.event)).filter { $0.timestamp < recent }
        try deleteCopies(of: old.compactMap(EventKey.init(of:)), of: source.app)
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

    func deleteCopies(of events: [EventKey], of app: App) throws {
        let keys: [Arguments] = events.map { [app.id, $0.clientEventID, $0.timestamp] }
        try connection.executeMany(
            "DELETE FROM metric_events WHERE app_id = ? AND client_event_id = ? AND timestamp = ?", keys)
        try connection.executeMany(
            "DELETE FROM funnel_events WHERE app_id = ? AND client_event_id = ? AND timestamp = ?", keys)
    }
}

/// The integer at the start of a text, after white space: 12 of `12.7 s`. Nil if there is none, if it is 0, or if it
/// needs more than 32 bits.
func leadingInteger(_ text: String) -> Int? {
    var rest = text.unicodeScalars.drop(while: \.isWhiteSpace)
    let sign = rest.first == "-" ? "-" : ""
    if rest.first == "-" || rest.first == "+" { rest.removeFirst() }
    let digits = rest.prefix { ("0"..."9").contains($0) }
    guard let number = Int32(sign + String(digits)), number != 0 else { return nil }
    return Int(number)
}

extension String {
    /// The text after a prefix, compared byte for byte; nil if the text does not have the prefix.
    fileprivate func rest(after prefix: String) -> String? {
        guard utf8.starts(with: prefix.utf8) else { return nil }
        return String(self[utf8.index(startIndex, offsetBy: prefix.utf8.count)...])
    }
}
