import JSON
import MariaDB
import Time

/// The rows of one kind that projects keep about an account, as its export shows them (accounts §4.8).
package struct RecordSection: Sendable {
    /// How a column is shown. NULL is `null`.
    enum Column: Sendable {
        case text, integer, flag, time, id, json
    }

    /// Rows that an index has in their order.
    struct Source: Sendable {
        /// Whose rows these are: the first arguments of the statement.
        enum Key: Sendable {
            case record
            /// A record, and whether its rows are development's.
            case recordInMode
            /// A project, and an id that deleted rows were frozen under (analytics §5, step 3).
            case frozenID
        }

        /// What the rows are sorted by.
        enum Order: Sendable {
            case id
            /// A `DATETIME(3)`, then an id.
            case time
            /// A `DATETIME(6)`, then a number.
            case exactTime
        }

        let key: Key
        let order: Order
        /// The columns of the order.
        let position: StaticString
        /// From FROM on. The arguments are the key, `end` if there is one, the last row's position, and how many rows.
        let rows: StaticString
        /// Where the index does not sort rows of the same time: selects the time up to which rows are read next, so
        /// that only those are sorted. The arguments are the key, the time up to which rows were read, and how many are
        /// skipped.
        var end: StaticString?
    }

    /// The document's member.
    package let name: String
    /// `columns`, of a table `t`.
    let select: StaticString
    /// The bytes of a row, if few rows may be large.
    var size: StaticString?
    let columns: KeyValuePairs<String, Column>
    let sources: [Source]

    /// At most so many rows, or one, are in memory at once, and of large ones so many bytes.
    static let page = (rows: 100, bytes: 4 << 20)
}

extension RecordSection.Column {
    func read(from row: inout Row) throws -> JSONValue {
        switch self {
        case .text: return try row.read(String?.self).map(JSONValue.string) ?? .null
        case .integer: return try row.read(Int64?.self).map(JSONValue.integer) ?? .null
        case .flag: return try row.read(Bool?.self).map(JSONValue.bool) ?? .null
        case .time: return try row.read(Timestamp?.self).map { .string($0.iso8601Milliseconds) } ?? .null
        case .id: return try row.read(UUID?.self).map { .string($0.description) } ?? .null
        case .json: return try row.readJSON() ?? .null
        }
    }
}

extension RecordSection.Source.Order {
    /// A position before all rows.
    var start: Arguments {
        switch self {
        case .id: [UUID(high: 0, low: 0)]
        case .time: Self.position(Timestamp.storable.lowerBound, UUID(high: 0, low: 0))
        case .exactTime: Self.position("0001-01-01", Int64(0))
        }
    }

    /// A position after all rows of a time.
    static func end(of time: Timestamp) -> Arguments { position(time, UUID(high: .max, low: .max)) }

    func position(from row: inout Row) throws -> Arguments {
        switch self {
        case .id:
            return [try row.read(UUID.self)]
        case .time:
            let time = try row.read(Timestamp.self)
            return Self.position(time, try row.read(UUID.self))
        case .exactTime:
            let time = try row.read(String.self)
            return Self.position(time, try row.read(Int64.self))
        }
    }

    /// For `time > ? OR time = ? AND id > ?`.
    private static func position(_ time: any Bindable, _ id: any Bindable) -> Arguments { [time, time, id] }
}

extension RecordSection.Source {
    /// The claims of a record.
    static let claims = RecordSection.Source(
        key: .record, order: .exactTime, position: "CAST(t.claimed_at AS CHAR), t.id",
        rows: """
            FROM identity_claims t FORCE INDEX (identity_claims_user)
            WHERE t.app_user_id = ? AND (t.claimed_at > ? OR t.claimed_at = ? AND t.id > ?)
            ORDER BY t.claimed_at, t.id LIMIT ?
            """)
}

extension RecordSection {
    /// Record by record, in the order of an index: by time, else by id.
    package static let all = [
        RecordSection(
            name: "records",
            select: """
                t.public_id, t.project_id, p.name, t.user_id, t.is_anonymous, o.public_id, t.merged_at, t.properties,
                t.first_seen_at, t.last_seen_at, t.last_country_code, t.last_app_version, t.last_sdk_name,
                t.last_sdk_version, t.last_locale, t.last_preferred_language, t.total_revenue_usd_cents,
                t.revenue_synced_at, t.is_dev
                """,
            columns: [
                "id": .id, "project_id": .id, "project": .text, "user_id": .text, "is_anonymous": .flag,
                "merged_into": .id, "merged_at": .time, "properties": .json, "first_seen_at": .time,
                "last_seen_at": .time, "last_country_code": .text, "last_app_version": .text, "last_sdk_name": .text,
                "last_sdk_version": .text, "last_locale": .text, "last_preferred_language": .text,
                "total_revenue_usd_cents": .integer, "revenue_synced_at": .time, "is_dev": .flag,
            ],
            sources: [
                Source(
                    key: .record, order: .id, position: "t.public_id",
                    rows: """
                        FROM app_users t FORCE INDEX (PRIMARY) LEFT JOIN projects p ON p.id = t.project_id
                        LEFT JOIN app_users o ON o.id = t.merged_into WHERE t.id = ? AND t.public_id > ? LIMIT ?
                        """)
            ]),
        RecordSection(
            name: "record_apps",
            select: "a.project_id, t.app_id, a.name, t.first_seen_at, t.last_seen_at",
            columns: ["project_id": .id, "app_id": .id, "app": .text, "first_seen_at": .time, "last_seen_at": .time],
            sources: [
                Source(
                    key: .record, order: .id, position: "t.app_id",
                    rows: """
                        FROM app_user_apps t FORCE INDEX (PRIMARY) LEFT JOIN apps a ON a.id = t.app_id
                        WHERE t.app_user_id = ? AND t.app_id > ? ORDER BY t.app_id LIMIT ?
                        """)
            ]),
        RecordSection(
            name: "record_claims",
            select: "t.project_id, t.anonymous_id, t.claimed_at",
            columns: ["project_id": .id, "anonymous_id": .text, "claimed_at": .time],
            sources: [.claims]),
        RecordSection(
            name: "feedback",
            select: """
                t.id, t.project_id, t.app_id, t.session_id, t.frozen_user_id, t.message, t.submitter_name,
                t.submitter_email, t.status, t.is_dev, t.environment, t.os_version, t.app_version, t.sdk_name,
                t.sdk_version, t.device_model, t.country_code, t.created_at, t.updated_at, t.deleted_at
                """,
            columns: [
                "id": .id, "project_id": .id, "app_id": .id, "session_id": .id, "frozen_user_id": .text,
                "message": .text, "submitter_name": .text, "submitter_email": .text, "status": .text, "is_dev": .flag,
                "environment": .text, "os_version": .text, "app_version": .text, "sdk_name": .text,
                "sdk_version": .text, "device_model": .text, "country_code": .text, "created_at": .time,
                "updated_at": .time, "deleted_at": .time,
            ],
            sources: [
                Source(
                    key: .record, order: .id, position: "t.id",
                    rows: """
                        FROM feedback t FORCE INDEX (feedback_user)
                        WHERE t.app_user_id = ? AND t.id > ? ORDER BY t.id LIMIT ?
                        """),
                Source(
                    key: .frozenID, order: .id, position: "t.id",
                    rows: """
                        FROM feedback t FORCE INDEX (feedback_frozen)
                        WHERE t.project_id = ? AND t.frozen_user_id = ? AND t.id > ? ORDER BY t.id LIMIT ?
                        """),
            ]),
        RecordSection(
            name: "questionnaire_responses",
            select: """
                t.id, t.questionnaire_id, t.slug, t.project_id, t.app_id, t.session_id, t.frozen_user_id, t.answers,
                t.schema_snapshot, t.submitted_at, t.status, t.is_dev, t.environment, t.os_version, t.app_version,
                t.sdk_name, t.sdk_version, t.device_model, t.country_code, t.created_at, t.updated_at, t.deleted_at
                """,
            size: "OCTET_LENGTH(t.answers) + COALESCE(OCTET_LENGTH(t.schema_snapshot), 0)",
            columns: [
                "id": .id, "questionnaire_id": .id, "slug": .text, "project_id": .id, "app_id": .id,
                "session_id": .id, "frozen_user_id": .text, "answers": .json, "schema_snapshot": .json,
                "submitted_at": .time, "status": .text, "is_dev": .flag, "environment": .text, "os_version": .text,
                "app_version": .text, "sdk_name": .text, "sdk_version": .text, "device_model": .text,
                "country_code": .text, "created_at": .time, "updated_at": .time, "deleted_at": .time,
            ],
            sources: [
                Source(
                    key: .record, order: .id, position: "t.id",
                    rows: """
                        FROM questionnaire_responses t FORCE INDEX (questionnaire_responses_user)
                        WHERE t.app_user_id = ? AND t.id > ? ORDER BY t.id LIMIT ?
                        """),
                Source(
                    key: .frozenID, order: .id, position: "t.id",
                    rows: """
                        FROM questionnaire_responses t FORCE INDEX (questionnaire_responses_frozen)
                        WHERE t.project_id = ? AND t.frozen_user_id = ? AND t.id > ? ORDER BY t.id LIMIT ?
                        """),
            ]),
        RecordSection(
            name: "attachments",
            select: """
                t.id, t.project_id, t.app_id, t.event_client_id, t.event_id, t.issue_id, t.frozen_user_id,
                t.original_filename, t.content_type, t.size_bytes, t.is_dev, t.uploaded_at, t.created_at, t.deleted_at
                """,
            columns: [
                "id": .id, "project_id": .id, "app_id": .id, "event_client_id": .id, "event_id": .id, "issue_id": .id,
                "frozen_user_id": .text, "original_filename": .text, "content_type": .text, "size_bytes": .integer,
                "is_dev": .flag, "uploaded_at": .time, "created_at": .time, "deleted_at": .time,
            ],
            sources: [
                Source(
                    key: .record, order: .id, position: "t.id",
                    rows: """
                        FROM event_attachments t FORCE INDEX (event_attachments_user)
                        WHERE t.app_user_id = ? AND t.deleted_at IS NULL AND t.id > ? ORDER BY t.id LIMIT ?
                        """),
                Source(
                    key: .record, order: .time, position: "t.deleted_at, t.id",
                    rows: """
                        FROM event_attachments t FORCE INDEX (event_attachments_user)
                        WHERE t.app_user_id = ? AND (t.deleted_at > ? OR t.deleted_at = ? AND t.id > ?)
                        ORDER BY t.deleted_at, t.id LIMIT ?
                        """),
                Source(
                    key: .frozenID, order: .id, position: "t.id",
                    rows: """
                        FROM event_attachments t FORCE INDEX (event_attachments_frozen)
                        WHERE t.project_id = ? AND t.frozen_user_id = ? AND t.id > ? ORDER BY t.id LIMIT ?
                        """),
            ]),
        RecordSection(
            name: "events",
            select: """
                t.id, t.app_id, t.client_event_id, t.session_id, t.level, t.source_module, t.message, t.screen_name,
                t.custom_attributes, t.environment, t.os_version, t.app_version, t.sdk_name, t.sdk_version,
                t.device_model, t.build_number, t.locale, t.preferred_language, t.country_code, t.is_dev, t.timestamp,
                t.received_at
                """,
            size: """
                OCTET_LENGTH(t.message) + COALESCE(OCTET_LENGTH(t.source_module), 0)
                    + COALESCE(OCTET_LENGTH(t.custom_attributes), 0)
                """,
            columns: [
                "id": .id, "app_id": .id, "client_event_id": .id, "session_id": .id, "level": .text,
                "source_module": .text, "message": .text, "screen_name": .text, "custom_attributes": .json,
                "environment": .text, "os_version": .text, "app_version": .text, "sdk_name": .text,
                "sdk_version": .text, "device_model": .text, "build_number": .text, "locale": .text,
                "preferred_language": .text, "country_code": .text, "is_dev": .flag, "timestamp": .time,
                "received_at": .time,
            ],
            sources: [
                Source(
                    key: .recordInMode, order: .time, position: "t.timestamp, t.id",
                    rows: """
                        FROM events t FORCE INDEX (events_user)
                        WHERE t.app_user_id = ? AND t.is_dev = ?
                          AND (t.timestamp > ? OR t.timestamp = ? AND t.id > ?)
                        ORDER BY t.timestamp, t.id LIMIT ?
                        """)
            ]),
        RecordSection(
            name: "metric_events",
            select: """
                t.id, t.app_id, t.client_event_id, t.session_id, t.metric_slug, t.phase, t.tracking_id, t.duration_ms,
                t.error, t.attributes, t.environment, t.os_version, t.app_version, t.sdk_name, t.sdk_version,
                t.device_model, t.build_number, t.country_code, t.is_dev, t.timestamp, t.received_at
                """,
            size: "COALESCE(OCTET_LENGTH(t.error), 0) + COALESCE(OCTET_LENGTH(t.attributes), 0)",
            columns: [
                "id": .id, "app_id": .id, "client_event_id": .id, "session_id": .id, "metric_slug": .text,
                "phase": .text, "tracking_id": .id, "duration_ms": .integer, "error": .text, "attributes": .json,
                "environment": .text, "os_version": .text, "app_version": .text, "sdk_name": .text,
                "sdk_version": .text, "device_model": .text, "build_number": .text, "country_code": .text,
                "is_dev": .flag, "timestamp": .time, "received_at": .time,
            ],
            sources: [
                Source(
                    key: .record, order: .time, position: "t.timestamp, t.id",
                    rows: """
                        FROM metric_events t FORCE INDEX (metric_events_user)
                        WHERE t.app_user_id = ? AND t.timestamp <= ?
                          AND (t.timestamp > ? OR t.timestamp = ? AND t.id > ?)
                        ORDER BY t.timestamp, t.id LIMIT ?
                        """,
                    end: """
                        SELECT t.timestamp FROM metric_events t FORCE INDEX (metric_events_user)
                        WHERE t.app_user_id = ? AND t.timestamp > ? ORDER BY t.timestamp LIMIT 1 OFFSET ?
                        """)
            ]),
        RecordSection(
            name: "funnel_events",
            select: """
                t.id, t.app_id, t.client_event_id, t.session_id, t.step_name, t.message, t.screen_name,
                t.custom_attributes, t.environment, t.os_version, t.app_version, t.sdk_name, t.sdk_version,
                t.device_model, t.build_number, t.country_code, t.is_dev, t.timestamp, t.received_at
                """,
            size: "OCTET_LENGTH(t.message) + COALESCE(OCTET_LENGTH(t.custom_attributes), 0)",
            columns: [
                "id": .id, "app_id": .id, "client_event_id": .id, "session_id": .id, "step_name": .text,
                "message": .text, "screen_name": .text, "custom_attributes": .json, "environment": .text,
                "os_version": .text, "app_version": .text, "sdk_name": .text, "sdk_version": .text,
                "device_model": .text, "build_number": .text, "country_code": .text, "is_dev": .flag,
                "timestamp": .time, "received_at": .time,
            ],
            sources: [
                Source(
                    key: .record, order: .time, position: "t.timestamp, t.id",
                    rows: """
                        FROM funnel_events t FORCE INDEX (funnel_events_user)
                        WHERE t.app_user_id = ? AND t.timestamp <= ?
                          AND (t.timestamp > ? OR t.timestamp = ? AND t.id > ?)
                        ORDER BY t.timestamp, t.id LIMIT ?
                        """,
                    end: """
                        SELECT t.timestamp FROM funnel_events t FORCE INDEX (funnel_events_user)
                        WHERE t.app_user_id = ? AND t.timestamp > ? ORDER BY t.timestamp LIMIT 1 OFFSET ?
                        """)
            ]),
        RecordSection(
            name: "issue_occurrences",
            select: """
                t.issue_id, t.session_id, t.event_id, t.app_version, t.environment, t.country_code, t.timestamp,
                t.created_at
                """,
            columns: [
                "issue_id": .id, "session_id": .id, "event_id": .id, "app_version": .text, "environment": .text,
                "country_code": .text, "timestamp": .time, "created_at": .time,
            ],
            sources: [
                Source(
                    key: .record, order: .id, position: "t.id",
                    rows: """
                        FROM issue_occurrences t FORCE INDEX (issue_occurrences_user)
                        WHERE t.app_user_id = ? AND t.id > ? ORDER BY t.id LIMIT ?
                        """)
            ]),
    ]
}
