package import MariaDB
package import Time

/// How the background work on events gets on, seen from the ends of a few indexes: cheap enough for twice a minute.
package struct AnalyticsUpkeep: Sendable {
    /// Since a merged record was due for `Compaction`; of many, not always the oldest.
    package let compactionDelay: Duration
    /// Since the oldest deleted attachment was due for `AttachmentCleanup`.
    package let attachmentDelay: Duration
    /// How long events still have partitions of their month.
    package let partitionsAhead: Duration
}

extension Connection {
    /// - Parameter grace: `Compaction`'s.
    package func analyticsUpkeep(at now: Timestamp, grace: Duration) throws -> AnalyticsUpkeep? {
        let end = try partitions(of: .events).compactMap(\.end).max()
        return try first(
            """
            SELECT (SELECT MIN(merged_at) FROM
                    (SELECT merged_at FROM app_users WHERE merged_into IS NOT NULL LIMIT 10000) AS merged),
                   (SELECT MIN(deleted_at) FROM event_attachments)
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
