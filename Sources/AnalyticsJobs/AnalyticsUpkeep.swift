import Analytics
package import MariaDB
package import Time

/// How far the background work on events is behind. Reads only the ends of a few indexes, so it may run twice a minute.
package struct AnalyticsUpkeep: Sendable {
    /// How long ago the oldest merged record became due for `Compaction`.
    package let compactionDelay: Duration
    /// How long ago the oldest deleted attachment became due for `AttachmentCleanup`.
    package let attachmentDelay: Duration
    /// How far into the future events have partitions of their month.
    package let partitionsAhead: Duration
}

extension Connection {
    /// - Parameters:
    ///   - grace: the grace period of `Compaction`.
    ///   - undoWindow: that of `Compaction`. The oldest tombstones may wait for its end while younger ones are due, so a
    ///     thousand are looked at.
    package func analyticsUpkeep(
        at now: Timestamp, grace: Duration, undoWindow: Duration
    ) throws -> AnalyticsUpkeep? {
        let end = try partitions(of: .events).compactMap(\.end).max()
        return try first(
            """
            SELECT MIN(IF(p.accounts, NULL, u.merged_at)), MIN(IF(p.accounts, u.merged_at, NULL)),
                   (SELECT MIN(deleted_at) FROM event_attachments)
            FROM (SELECT merged_at, project_id FROM app_users FORCE INDEX (app_users_merged_at)
                  WHERE merged_at IS NOT NULL ORDER BY merged_at LIMIT 1000) u
            LEFT JOIN projects p ON p.id = u.project_id
            """
        ) { row in
            let due = [
                try row.read(Timestamp?.self).map { $0 + grace },
                try row.read(Timestamp?.self).map { $0 + max(grace, undoWindow) },
            ]
            return AnalyticsUpkeep(
                compactionDelay: now.delay(since: due.compactMap { $0 }.min()),
                attachmentDelay: now.delay(
                    since: try row.read(Timestamp?.self).map { $0 + AttachmentCleanup.afterlife }),
                partitionsAhead: end.map { max(.zero, $0 - now) } ?? .zero)
        }
    }
}
