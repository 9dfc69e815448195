package import MariaDB
import Time

/// Which events of the outbox a list has, and how it is sorted.
package enum OutboxList: String, Sendable, CaseIterable {
    /// The next one to be sent first.
    case pending
    /// The last one to be given up first.
    case dead
    /// The last one to be delivered first.
    case delivered
}

extension Connection {
    /// Events of all applications, a page at a time.
    ///
    /// - Parameter after: the last event of the page before.
    package func outbox(_ list: OutboxList, after: TimeCursor?, limit: Int) throws -> ListPage<OutboxEvent> {
        var sql = ComposedSQL(select: OutboxEvent.columns, from: "(SELECT id FROM webhook_outbox ")
        // Each condition is a range of the index that the list is read from, not more than a page of it.
        switch list {
        case .pending:
            sql.append("FORCE INDEX (webhook_outbox_due) WHERE next_attempt_at IS NOT NULL")
            if let after {
                sql.append(
                    " AND (next_attempt_at > ? OR next_attempt_at = ? AND id > ?)", after.time, after.time, after.row)
            }
            sql.append(" ORDER BY next_attempt_at, id")
        case .dead:
            sql.append("FORCE INDEX (webhook_outbox_dead) WHERE dlq_at IS NOT NULL")
            if let after { sql.append(" AND (dlq_at < ? OR dlq_at = ? AND id < ?)", after.time, after.time, after.row) }
            sql.append(" ORDER BY dlq_at DESC, id DESC")
        case .delivered:
            sql.append("FORCE INDEX (webhook_outbox_delivered) WHERE delivered_at IS NOT NULL")
            if let after {
                sql.append(" AND (delivered_at < ? OR delivered_at = ? AND id < ?)", after.time, after.time, after.row)
            }
            sql.append(" ORDER BY delivered_at DESC, id DESC")
        }
        sql.append(
            """
             LIMIT ?) page
            JOIN webhook_outbox o ON o.id = page.id JOIN applications a ON a.id = o.application_id
            """, limit + 1)
        switch list {
        case .pending: sql.append(" ORDER BY o.next_attempt_at, o.id")
        case .dead: sql.append(" ORDER BY o.dlq_at DESC, o.id DESC")
        case .delivered: sql.append(" ORDER BY o.delivered_at DESC, o.id DESC")
        }
        let found = try all(sql) { row in try OutboxEvent(from: &row) }
        return ListPage(found, limit: limit) { event in
            let time: Timestamp? =
                switch list {
                case .pending: event.nextAttemptAt
                case .dead: event.deadAt
                case .delivered: event.deliveredAt
                }
            return TimeCursor(time: time ?? event.occurredAt, row: event.row).text
        }
    }
}
