import JSON
import MariaDB
import Time

extension AccountsTransaction {
    /// Writes events to the outbox, in ascending order of application ids.
    ///
    /// The id and the time of an event are taken under the lock of the application's counter. So events are ordered by
    /// commit, and a poller misses none. The payload is serialized here, once (RFC 8785).
    func appendToOutbox(_ events: [Event]) throws {
        for event in events.sorted(by: { $0.application < $1.application }) {
            let ulid = ULID(at: now, after: try lockEventCounter(of: event.application))
            let id = "evt_" + ulid.text
            let envelope: JSONValue = [
                "event_id": .string(id), "event_type": .string(event.kind.rawValue),
                "occurred_at": .string(ulid.timestamp.iso8601), "data": event.data,
            ]
            try connection.execute(
                """
                INSERT INTO webhook_outbox (application_id, event_id, event_type, raw_payload, next_attempt_at)
                SELECT id, ?, ?, ?, IF(webhook_url IS NULL, NULL, ?) FROM applications WHERE id = ?
                """, id, event.kind.rawValue, envelope.canonicalJSON(), now, event.application)
            try connection.execute(
                "UPDATE application_event_counters SET last_ulid = ? WHERE application_id = ?", ulid.text,
                event.application)
            for sub in event.absorbedSubs {
                // This row is already locked: this transaction wrote it.
                try connection.execute(
                    "UPDATE absorbed_subs SET source_event_id = ? WHERE application_id = ? AND sub = ?", id,
                    event.application, sub)
            }
        }
    }

    /// - Returns: the id of the application's newest event; nil if it has none.
    private func lockEventCounter(of application: Application.ID) throws -> ULID? {
        if let last = try readEventCounter(of: application) { return last.isEmpty ? nil : ULID(text: last) }
        try connection.execute(
            """
            INSERT INTO application_event_counters (application_id) VALUES (?)
            ON DUPLICATE KEY UPDATE application_id = VALUES(application_id)
            """, application)
        let last = try readEventCounter(of: application) ?? ""
        return last.isEmpty ? nil : ULID(text: last)
    }

    private func readEventCounter(of application: Application.ID) throws -> String? {
        try connection.first(
            "SELECT last_ulid FROM application_event_counters WHERE application_id = ? FOR UPDATE", application
        ) { row in try row.read() }
    }
}
