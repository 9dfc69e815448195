package import MariaDB
package import Time

/// What has become of an event in the outbox.
package enum OutboxState: String, Sendable, CaseIterable {
    case pending, delivered, dead
    /// For polling only.
    case polled
}

/// An event in the outbox as operators see it: never its payload.
package struct OutboxEvent: Sendable {
    package let eventID: String
    package let clientID: String
    package let type: String
    package let seq: Int64
    package let state: OutboxState
    package let attempts: Int
    package let nextAttemptAt: Timestamp?
    package let deliveredAt: Timestamp?
    package let failureReason: String?
}

extension Connection {
    /// The newest events first.
    ///
    /// - Parameters: nil: all.
    package func outboxEvents(in state: OutboxState?, of clientID: String?, limit: Int) throws -> [OutboxEvent] {
        var sql = ComposedSQL(
            """
            SELECT o.event_id, a.client_id, o.event_type, o.seq, o.attempts, o.next_attempt_at, o.delivered_at,
                   o.dlq_at IS NOT NULL, o.failure_reason
            FROM webhook_outbox o JOIN applications a ON a.id = o.application_id WHERE TRUE
            """)
        if let clientID { sql.append(" AND a.client_id = ?", clientID) }
        switch state {
        case .pending: sql.append(" AND o.next_attempt_at IS NOT NULL")
        case .delivered: sql.append(" AND o.delivered_at IS NOT NULL AND o.next_attempt_at IS NULL")
        case .dead: sql.append(" AND o.dlq_at IS NOT NULL")
        case .polled: sql.append(" AND COALESCE(o.next_attempt_at, o.delivered_at, o.dlq_at) IS NULL")
        case nil: break
        }
        sql.append(" ORDER BY o.event_id DESC LIMIT ?", limit)
        return try all(sql) { row in
            let (eventID, clientID) = (try row.read(String.self), try row.read(String.self))
            let (type, seq, attempts) = (try row.read(String.self), try row.read(Int64.self), try row.read(Int.self))
            let (next, deliveredAt) = (try row.read(Timestamp?.self), try row.read(Timestamp?.self))
            let isDead = try row.read(Bool.self)
            return OutboxEvent(
                eventID: eventID, clientID: clientID, type: type, seq: seq,
                state: next != nil ? .pending : isDead ? .dead : deliveredAt != nil ? .delivered : .polled,
                attempts: attempts, nextAttemptAt: next, deliveredAt: deliveredAt, failureReason: try row.read())
        }
    }

    /// The client_id of the application that an event is for.
    package func application(ofEvent eventID: String) throws -> String? {
        guard eventID.isASCII else { return nil }
        return try first(
            """
            SELECT a.client_id FROM webhook_outbox o JOIN applications a ON a.id = o.application_id WHERE o.event_id = ?
            """, eventID
        ) { row in try row.read() }
    }
}
