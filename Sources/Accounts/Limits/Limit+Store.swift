import MariaDB
import OpenSSL
import Time

extension AccountsTransaction {
    /// Counts one more event, in this transaction. If the rule throws, the count is rolled back; if it returns, also
    /// with a refusal, the count is kept.
    ///
    /// The counter's row is locked until the transaction ends, so lock users first.
    ///
    /// - Parameter subject: what the limit applies to, such as a user's id.
    /// - Returns: nil within the limit, otherwise how long to wait.
    package func count(_ limit: Limit, for subject: String) throws -> Duration? {
        try limit.windows.compactMap { window in try count(window, of: limit, for: subject) }.max()
    }

    /// Whether one more event would exceed the limit. It neither counts nor locks.
    package func isReached(_ limit: Limit, for subject: String) throws -> Bool {
        try limit.windows.contains { window in
            try connection.first(
                "SELECT count FROM rate_limits WHERE digest = ? AND count >= ? AND expires_at > ?",
                window.counter(of: limit, for: subject), window.count, now
            ) { row in try row.read(Int.self) } != nil
        }
    }

    private func count(_ window: Limit.Window, of limit: Limit, for subject: String) throws -> Duration? {
        // MariaDB runs assignments in order, so `count` is assigned first, while `expires_at` still has its old value.
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
    /// The primary key of the counter's row.
    fileprivate func counter(of limit: Limit, for subject: String) -> [UInt8] {
        sha256("\(limit.name)\n\(length.components.seconds)\n\(subject)".utf8)
    }
}
