import JSON
import MariaDB
import Time

extension AccountsTransaction {
    /// Writes events to the outbox, in ascending order of application ids.
    ///
    /// Event id, time and seq are taken under the lock of the application's counter, so that their order is commit order:
    /// a poller misses nothing. The payload's bytes are made here, once (RFC 8785).
    func appendToOutbox(_ events: [Event]) throws {
        for event in events.sorted(by: { $0.application < $1.application }) {
            let last = try lockEventCounter(of: event.application)
            let ulid = ULID(at: now, after: last.ulid)
            let seq = last.seq + 1
            let id = Event.id(ulid)
            let envelope: JSONValue = [
                "event_id": .string(id), "event_type": .string(event.kind.rawValue),
                "occurred_at": .string(ulid.timestamp.iso8601), "data": event.data,
            ]
            try connection.execute(
                """
                INSERT INTO webhook_outbox (application_id, event_id, event_type, raw_payload, seq, next_attempt_at)
                SELECT id, ?, ?, ?, ?,
                       IF(webhook_url IS NOT NULL
                          AND (? OR COALESCE(JSON_CONTAINS(webhook_events, JSON_QUOTE(?)), TRUE)), ?, NULL)
                FROM applications WHERE id = ?
                """, id, event.kind.rawValue, envelope.canonicalJSON(), seq, event.kind.isAlwaysPushed,
                event.kind.rawValue, now, event.application)
            try connection.execute(
                "UPDATE application_event_counters SET last_ulid = ?, last_seq = ? WHERE application_id = ?",
                ulid.text, seq, event.application)
            for sub in event.absorbedSubs {
                // This row is already locked: this transaction wrote it.
                try connection.execute(
                    "UPDATE absorbed_subs SET source_event_id = ? WHERE application_id = ? AND sub = ?", id,
                    event.application, sub)
            }
            if let link = event.identityLink {
                try connection.execute(
                    "INSERT INTO identity_link_events (identity_link_id, application_id, event_id) VALUES (?, ?, ?)",
                    link, event.application, id)
            }
        }
    }

    /// - Returns: the application's newest event; without a ULID when it had none.
    private func lockEventCounter(of application: Application.ID) throws -> (ulid: ULID?, seq: Int64) {
        if let last = try readEventCounter(of: application) { return last }
        try connection.execute(
            """
            INSERT INTO application_event_counters (application_id) VALUES (?)
            ON DUPLICATE KEY UPDATE application_id = VALUES(application_id)
            """, application)
        return try readEventCounter(of: application) ?? (nil, 0)
    }

    private func readEventCounter(of application: Application.ID) throws -> (ulid: ULID?, seq: Int64)? {
        try connection.first(
            "SELECT last_ulid, last_seq FROM application_event_counters WHERE application_id = ? FOR UPDATE",
            application
        ) { row in
            let ulid = try row.read(String.self)
            return (ulid.isEmpty ? nil : ULID(text: ulid), try row.read())
        }
    }
}
