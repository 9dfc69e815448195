import JSON

extension AnalyticsScene {
    static let session = "3f2504e0-4f89-11d3-9a0c-0305e82c3301"

    /// An event as SDKs send it.
    ///
    /// - Parameters:
    ///   - id: of `uuid`, for `client_event_id`.
    ///   - time: ISO 8601; nil: none is sent.
    func event(
        _ message: String = "hi", of user: String? = nil, id: Int? = nil, at time: String? = nil,
        _ more: KeyValuePairs<String, JSONValue?> = [:]
    ) -> JSONValue {
        let required: JSONValue = [
            "message": .string(message), "level": "info", "session_id": .string(Self.session),
        ]
        return required.adding([
            "user_id": user.map(JSONValue.string), "client_event_id": id.map { .string(uuid($0)) },
            "timestamp": time.map(JSONValue.string),
        ]).adding(more)
    }

    /// From the scene's app.
    func ingest(_ events: [JSONValue], token: String? = nil) -> RepeatableRequest {
        post("/v1/ingest", ["bundle_id": "com.example", "events": .array(events)], token)
    }

    func importing(_ events: [JSONValue], token: String? = nil) -> RepeatableRequest {
        post("/v1/import", ["events": .array(events)], token ?? importKey)
    }

    // MARK: Looking

    /// The rows of `events`, sorted by time and message: `message of owner`, or only the message.
    func events() throws -> [String] {
        try app.column(
            """
            SELECT CONCAT(message, COALESCE(CONCAT(' of ', user_id), '')) FROM events_resolved
            ORDER BY timestamp, message, id
            """)
    }

    /// The counters of all records that have events, by name and month: `user 2026-05: 7`.
    func counters() throws -> [String] {
        try app.column(
            """
            SELECT CONCAT(u.user_id, ' ', DATE_FORMAT(c.month, '%Y-%m'), ': ', c.n)
            FROM app_user_event_counts c JOIN app_users u ON u.id = c.app_user_id
            WHERE c.n > 0 ORDER BY u.user_id, c.month
            """)
    }

    /// The same values, counted from the rows.
    func countedEvents() throws -> [String] {
        try app.column(
            """
            SELECT CONCAT(user_id, ' ', DATE_FORMAT(timestamp, '%Y-%m'), ': ', COUNT(*))
            FROM events_resolved WHERE app_user_id IS NOT NULL
            GROUP BY user_id, DATE_FORMAT(timestamp, '%Y-%m') ORDER BY user_id, DATE_FORMAT(timestamp, '%Y-%m')
            """)
    }
}
