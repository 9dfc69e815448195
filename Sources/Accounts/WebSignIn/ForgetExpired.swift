import MariaDB

/// Visitors without an account add rows here. Whoever adds one deletes two that have expired, so that a table has little more
/// than what came in one lifetime of its rows, however seldom clean-up runs. Rows that others delete just now are skipped.
extension AccountsTransaction {
    func forgetExpiredRequests() throws {
        let expired = try connection.all(
            """
            SELECT id FROM authorization_requests WHERE expires_at <= ? ORDER BY expires_at LIMIT 2
            FOR UPDATE SKIP LOCKED
            """, now
        ) { row in try row.read(Int64.self) }
        try connection.executeMany("DELETE FROM authorization_requests WHERE id = ?", expired) { [$0] }
    }

    func forgetExpiredTrips() throws {
        let expired = try connection.all(
            "SELECT id FROM provider_sign_ins WHERE expires_at <= ? ORDER BY expires_at LIMIT 2 FOR UPDATE SKIP LOCKED",
            now
        ) { row in try row.read(Int64.self) }
        try connection.executeMany("DELETE FROM provider_sign_ins WHERE id = ?", expired) { [$0] }
    }
}
