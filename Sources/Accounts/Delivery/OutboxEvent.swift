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
    /// The row's key.
    let row: Int64
    package let eventID: String
    package let clientID: String
    package let type: String
    package let seq: Int64
    package let state: OutboxState
    package let attempts: Int
    package let nextAttemptAt: Timestamp?
    package let deliveredAt: Timestamp?
    /// When its last attempt failed.
    package let deadAt: Timestamp?
    package let failureReason: String?

    package var occurredAt: Timestamp { Event.time(ofID: eventID) }
}

extension OutboxEvent {
    /// The columns of an event `o` of an application `a` that `init(from:)` reads.
    static let columns: StaticString = """
        o.id, o.event_id, a.client_id, o.event_type, o.seq, o.attempts, o.next_attempt_at, o.delivered_at, o.dlq_at,
        o.failure_reason
        """

    init(from row: inout Row) throws(MariaDBError) {
        self.row = try row.read()
        eventID = try row.read()
        clientID = try row.read()
        type = try row.read()
        seq = try row.read()
        attempts = try row.read()
        nextAttemptAt = try row.read()
        deliveredAt = try row.read()
        deadAt = try row.read()
        failureReason = try row.read()
        state =
            nextAttemptAt != nil ? .pending : deadAt != nil ? .dead : deliveredAt != nil ? .delivered : .polled
    }
}

extension Connection {
    /// The newest events first.
    ///
    /// - Parameters: nil: all.
    package func outboxEvents(in state: OutboxState?, of clientID: String?, limit: Int) throws -> [OutboxEvent] {
        var sql = ComposedSQL(
            select: OutboxEvent.columns,
            from: "webhook_outbox o JOIN applications a ON a.id = o.application_id WHERE TRUE")
        if let clientID { sql.append(" AND a.client_id = ?", clientID) }
        switch state {
        case .pending: sql.append(" AND o.next_attempt_at IS NOT NULL")
        case .delivered: sql.append(" AND o.delivered_at IS NOT NULL AND o.next_attempt_at IS NULL")
        case .dead: sql.append(" AND o.dlq_at IS NOT NULL")
        case .polled: sql.append(" AND COALESCE(o.next_attempt_at, o.delivered_at, o.dlq_at) IS NULL")
        case nil: break
        }
        sql.append(" ORDER BY o.event_id DESC LIMIT ?", limit)
        return try all(sql) { row in try OutboxEvent(from: &row) }
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
