import MariaDB
import OpenSSL
import Time

extension AccountsTransaction {
    /// Counts one more, in this transaction: what is thrown later takes it back, what is returned keeps it, a refusal too.
    ///
    /// The row of a counter is locked until the transaction ends; count after users are locked.
    ///
    /// - Parameter subject: whom or what the limit is for, such as a user's id.
    /// - Returns: nil when it is within the limit, else how long to wait.
    package func count(_ limit: Limit, for subject: String) throws -> Duration? {
        try limit.windows.compactMap { window in try count(window, of: limit, for: subject) }.max()
    }

    /// Whether one more would be above the limit. It neither counts nor locks.
    package func isReached(_ limit: Limit, for subject: String) throws -> Bool {
        try limit.windows.contains { window in
            try connection.first(
                "SELECT count FROM rate_limits WHERE digest = ? AND count >= ? AND expires_at > ?",
                window.counter(of: limit, for: subject), window.count, now
            ) { row in try row.read(Int.self) } != nil
        }
    }

    private func count(_ window: Limit.Window, of limit: Limit, for subject: String) throws -> Duration? {
        // Assignments see those before them: the count is judged by the end that was, and set first.
        let counted = try connection.first(
            """
            INSERT INTO rate_limits (digest, count, expires_at) VALUES (?, 1, ?)
            ON DUPLICATE KEY UPDATE count = IF(expires_at <= ?, 1, count + 1),
                                    expires_at = IF(expires_at <= ?, VALUES(expires_at), expires_at)
            RETURNING count, expires_at
            """, window.counter(of: limit, for: subject), now + window.length, now, now
        ) { row in (count: try row.read(Int.self), end: try row.read(Timestamp.self)) }
        guard let counted, counted.count > window.count else { return nil }
        return counted.end - now
    }
}

extension Limit.Window {
    /// What its row is found by.
    fileprivate func counter(of limit: Limit, for subject: String) -> [UInt8] {
        sha256("\(limit.name)\n\(length.components.seconds)\n\(subject)".utf8)
    }
}
