package import MariaDB
package import Time

/// An attempt to send an event, as its application's developer sees it: never a body or a secret (accounts §3.4).
package struct DeliveryAttempt: Sendable {
    package let eventID: String
    package let eventType: String
    package let attempt: Int
    package let at: Timestamp
    /// Nil: there was no answer.
    package let status: Int?
    package let duration: Duration
    /// Nil: delivered.
    package let failureReason: String?
}

extension Accounts {
    /// The attempts of the last seven days, newest first.
    ///
    /// - Throws: `notFound` unless the developer owns it.
    package func deliveryAttempts(
        of clientID: String, by caller: Caller, limit: Int, _ connection: Connection
    ) throws -> [DeliveryAttempt] {
        let application = try application(clientID, of: caller, connection)
        return try connection.all(
            """
            SELECT event_id, event_type, attempt, at, status, duration_ms, failure_reason FROM webhook_attempts
            WHERE application_id = ? ORDER BY id DESC LIMIT ?
            """, application.id, limit
        ) { row in
            DeliveryAttempt(
                eventID: try row.read(), eventType: try row.read(), attempt: try row.read(), at: try row.read(),
                status: try row.read(), duration: .milliseconds(try row.read(Int.self)), failureReason: try row.read())
        }
    }
}
