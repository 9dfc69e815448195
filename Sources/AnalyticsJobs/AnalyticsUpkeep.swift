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
    /// - Parameter grace: the grace period of `Compaction`.
    package func analyticsUpkeep(at now: Timestamp, grace: Duration) throws -> AnalyticsUpkeep? {
        let end = try partitions(of: .events).compactMap(\.end).max()
        return try first(
            """
            SELECT (SELECT MIN(merged_at) FROM app_users), (SELECT MIN(deleted_at) FROM event_attachments)
            """
        ) { row in
            AnalyticsUpkeep(
                compactionDelay: now.delay(since: try row.read(Timestamp?.self).map { $0 + grace }),
                attachmentDelay: now.delay(
                    since: try row.read(Timestamp?.self).map { $0 + AttachmentCleanup.afterlife }),
                partitionsAhead: end.map { max(.zero, $0 - now) } ?? .zero)
        }
    }
}
