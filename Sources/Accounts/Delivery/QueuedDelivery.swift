import MariaDB
import Time

/// A message whose row is gone as soon as it was taken, or its last attempt has failed. The row has `id`, `attempts`,
/// `next_attempt_at` and `lease`.
protocol QueuedDelivery: Delivery {
    static var table: StaticString { get }

    var id: Identifier<Self> { get }
    /// What the row must have for a failure to count.
    var lease: [UInt8] { get }

    /// How long a message waits after an attempt that failed; nil: it was the last one.
    static func wait(after outcome: AttemptOutcome<Self>) -> Duration?
}

extension QueuedDelivery {
    /// A success counts even if the lease has passed to another dispatcher; a failure does not.
    static func record(
        _ outcomes: [AttemptOutcome<Self>], at time: Timestamp, in transaction: AccountsTransaction
    ) throws -> RecordedOutcomes {
        let connection = transaction.connection
        var recorded = RecordedOutcomes()
        for outcome in outcomes.sorted(by: { $0.delivery.id < $1.delivery.id }) {
            let delivery = outcome.delivery
            if outcome.failure == nil {
                try connection.execute(statement("DELETE FROM ", " WHERE id = ?", delivery.id))
            } else if let wait = wait(after: outcome) {
                try connection.execute(
                    statement(
                        "UPDATE ",
                        """
                         SET attempts = attempts + 1, next_attempt_at = ?, lease = NULL
                        WHERE id = ? AND lease = ?
                        """, time + wait, delivery.id, delivery.lease))
            } else {
                recorded.dead += try connection.execute(
                    statement("DELETE FROM ", " WHERE id = ? AND lease = ?", delivery.id, delivery.lease)
                ).affectedRows
            }
        }
        return recorded
    }

    static func release(_ deliveries: [Self], at time: Timestamp, in transaction: AccountsTransaction) throws {
        for delivery in deliveries.sorted(by: { $0.id < $1.id }) {
            try transaction.connection.execute(
                statement(
                    "UPDATE ", " SET lease = NULL, next_attempt_at = ? WHERE id = ? AND lease = ?", time, delivery.id,
                    delivery.lease))
        }
    }

    private static func statement(
        _ verb: StaticString, _ rest: StaticString, _ arguments: any Bindable...
    ) -> ComposedSQL {
        var sql = ComposedSQL(verb)
        sql.append(table)
        sql.append(rest, arguments: arguments)
        return sql
    }
}
