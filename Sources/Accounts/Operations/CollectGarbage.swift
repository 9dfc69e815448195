package import MariaDB
package import Time

/// Rows that have outlived their use, one kind a table.
package enum Garbage: String, Sendable, CaseIterable {
    case idempotencyRecords = "idempotency_records"
    case swapTickets = "swap_tickets"
    case authorizationCodes = "authorization_codes"
    case webSessions = "web_sessions"
    case loginEvents = "login_events"
    case paks
    case rateLimits = "rate_limits"

    /// The most rows that one transaction deletes (accounts §0.4).
    package static let batch = 500
    /// Codes and revoked PAKs are still told from unknown ones for a while, so that their misuse can be seen.
    fileprivate static let afterlife = Duration.seconds(30 * 86_400)
}

extension Connection {
    /// Deletes at most `Garbage.batch` rows; run it again until it deletes fewer.
    ///
    /// - Parameter loginHistory: how long sign-ins are remembered.
    /// - Returns: how many rows were deleted.
    package func collect(_ kind: Garbage, at now: Timestamp, loginHistory: Duration) throws -> Int {
        let outcome =
            switch kind {
            case .idempotencyRecords:
                try execute("DELETE FROM idempotency_records WHERE expires_at <= ? ORDER BY expires_at LIMIT 500", now)
            case .swapTickets:
                try execute("DELETE FROM swap_tickets WHERE expires_at <= ? ORDER BY expires_at LIMIT 500", now)
            case .authorizationCodes:
                try execute(
                    "DELETE FROM authorization_codes WHERE expires_at <= ? ORDER BY expires_at LIMIT 500",
                    now - Garbage.afterlife)
            case .webSessions:
                try execute("DELETE FROM web_sessions WHERE expires_at <= ? ORDER BY expires_at LIMIT 500", now)
            case .loginEvents:
                try execute(
                    "DELETE FROM login_events WHERE created_at <= ? ORDER BY created_at LIMIT 500", now - loginHistory)
            case .paks:
                try execute(
                    "DELETE FROM paks WHERE revoked_at <= ? ORDER BY revoked_at LIMIT 500", now - Garbage.afterlife)
            case .rateLimits:
                try execute("DELETE FROM rate_limits WHERE expires_at <= ? ORDER BY expires_at LIMIT 500", now)
            }
        return outcome.affectedRows
    }
}
