import MariaDB
import OpenSSL
import Text
import Time

/// A receiver that has messages to be sent now.
struct DueTarget<ID: Hashable & Sendable>: Sendable {
    let id: ID
    let url: String
    /// Whether its last attempt failed.
    let isFailing: Bool
    /// Whether its breaker is open, so that one event may be sent as a probe.
    let isProbed: Bool
    /// Whether all that is due has been sent before, so that it comes after what others wait for.
    var hasOnlyReplays = false
}

typealias DueApplication = DueTarget<Application.ID>

/// If fewer rows of a queue are due, all are read, in the order of their time. The applications of more are found by a jump
/// from each to the next, which MariaDB does only while its statistics fit: after a burst of events that nobody waits for it
/// would read the whole index.
let dueRowsReadAtOnce = 64

extension Connection {
    /// The time that leases and waits are counted by, one for all dispatchers.
    func deliveryTime() throws -> Timestamp {
        guard let now = try first("SELECT NOW(3)", read: { row in try row.read(Timestamp.self) }) else {
            throw MariaDBError("NOW() has no row")
        }
        return now
    }

    /// Applications that have due events and may be sent to, those that have waited longest first; after all others those
    /// that wait for replays only.
    ///
    /// The work grows with the number of applications, not with that of waiting events.
    func dueApplications(at now: Timestamp) throws -> [DueApplication] {
        let waiting = try first(
            """
            SELECT COUNT(*) FROM (SELECT 1 FROM webhook_outbox FORCE INDEX (webhook_outbox_due)
                                  WHERE next_attempt_at <= ? LIMIT ?) AS few
            """, now, dueRowsReadAtOnce, read: { row in try row.read(Int.self) })
        guard let waiting, waiting > 0 else { return [] }
        // STRAIGHT_JOIN: with the applications first, MariaDB would read all that waits for each.
        var sql = ComposedSQL(
            """
            SELECT due.application_id, a.webhook_url, f.application_id IS NOT NULL, f.probe_at IS NOT NULL,
                   due.is_replayed
            FROM (SELECT application_id, is_replayed, MIN(next_attempt_at) AS due_at FROM webhook_outbox
            """)
        sql.append(
            waiting < dueRowsReadAtOnce
                ? " FORCE INDEX (webhook_outbox_due)" : " FORCE INDEX (webhook_outbox_application_due)")
        sql.append(
            """
             WHERE next_attempt_at <= ? GROUP BY application_id, is_replayed) AS due
            STRAIGHT_JOIN applications a ON a.id = due.application_id
            LEFT JOIN webhook_failures f ON f.application_id = due.application_id
            WHERE a.webhook_url IS NOT NULL AND a.webhook_disabled_at IS NULL AND a.status = 'active'
              AND (f.probe_at IS NULL OR f.probe_at <= ?)
            ORDER BY due.is_replayed, due.due_at, due.application_id
            """, now, now)
        let due = try all(sql) { row in
            DueApplication(
                id: try row.read(), url: try row.read(), isFailing: try row.read(), isProbed: try row.read(),
                hasOnlyReplays: try row.read())
        }
        var isListed: Set<Application.ID> = []
        return due.filter { isListed.insert($0.id).inserted }
    }

    /// The active keys of applications, newest first.
    fileprivate func webhookKeys(
        of applications: [Application.ID], _ serverKey: ServerKey
    ) throws -> [Application.ID: [WebhookKey]] {
        if applications.isEmpty { return [:] }
        var sql = ComposedSQL("SELECT application_id, kid, sealed_secret FROM webhook_keys WHERE retired_at IS NULL")
        sql.append(" AND application_id IN ", oneOf: applications)
        sql.append(" ORDER BY created_at DESC, id DESC")
        var keys: [Application.ID: [WebhookKey]] = [:]
        _ = try all(sql) { row in
            let (application, kid) = (try row.read(Application.ID.self), try row.read(String.self))
            // One that does not open is reported by the doctor; the others sign.
            guard let secret = try? serverKey.open(row.read(), for: WebhookKey.row(kid, of: application)) else {
                return
            }
            keys[application, default: []].append(
                WebhookKey(keyID: kid, secret: String(decoding: secret, as: UTF8.self)))
        }
        return keys
    }
}

extension AccountsTransaction {
    /// How long a dispatcher may take to send an event and say what became of it; then others send it again.
    package static let deliveryLease = Duration.seconds(60)

    /// Claims due events, each application's oldest first, and replays after all others. Rows that others are claiming are
    /// skipped.
    ///
    /// - Parameters:
    ///   - targets: with how many events each may have.
    ///   - time: the database's.
    func claimDeliveries(
        for targets: [(target: DueApplication, count: Int)], at time: Timestamp, serverKey: ServerKey
    ) throws -> [WebhookDelivery] {
        let applications = try targets.sorted { $0.target.id < $1.target.id }.filter { choice in
            try !choice.target.isProbed || takeProbe(of: choice.target.id, at: time)
        }
        let keys = try connection.webhookKeys(of: applications.map(\.target.id), serverKey)
        let lease = randomBytes(16)
        var deliveries: [WebhookDelivery] = []
        for start in stride(from: 0, to: applications.count, by: Self.applicationsOfAClaim) {
            let part = applications[start...].prefix(Self.applicationsOfAClaim)
            let byID = Dictionary(uniqueKeysWithValues: part.map { ($0.target.id, $0.target) })
            deliveries += try connection.all(Self.lockingDueEvents(of: part, at: time)) { row in
                let id = try row.read(Application.ID.self)
                guard let application = byID[id] else { throw MariaDBError("an event of another application") }
                return WebhookDelivery(
                    row: try row.read(), application: id, url: application.url, eventID: try row.read(),
                    eventType: try row.read(), seq: try row.read(), payload: try row.read(),
                    attempt: try row.read(Int.self) + 1, isFailing: application.isFailing,
                    isProbe: application.isProbed, keys: keys[id] ?? [], lease: lease, replayedAt: try row.read(),
                    claimedAt: time)
            }
        }
        try connection.executeMany("UPDATE webhook_outbox SET lease = ?, next_attempt_at = ? WHERE id = ?", deliveries)
        {
            [lease, time + Self.deliveryLease, $0.row]
        }
        return deliveries
    }

    /// How many applications one statement claims events of; each number is a statement of its own in the cache.
    private static let applicationsOfAClaim = 32

    /// The oldest due events of each application. One statement for many, since a round trip for each would bound how many
    /// events a dispatcher sends in a second.
    private static func lockingDueEvents(
        of applications: some Sequence<(target: DueApplication, count: Int)>, at time: Timestamp
    ) -> ComposedSQL {
        var sql = ComposedSQL("")
        for (application, count) in applications {
            if !sql.isEmpty { sql.append(" UNION ALL ") }
            sql.append(
                """
                (SELECT application_id, id, event_id, event_type, seq, raw_payload, attempts, replayed_at
                 FROM webhook_outbox FORCE INDEX (webhook_outbox_application_due)
                 WHERE application_id = ? AND is_replayed IN (FALSE, TRUE) AND next_attempt_at <= ?
                 ORDER BY is_replayed, next_attempt_at, id LIMIT ?
                 FOR UPDATE SKIP LOCKED)
                """, application.id, time, count)
        }
        return sql
    }

    /// Gives events back that were not sent, or of which nobody knows.
    func release(_ deliveries: [WebhookDelivery], at time: Timestamp) throws {
        try connection.executeMany(
            "UPDATE webhook_outbox SET lease = NULL, next_attempt_at = ? WHERE id = ? AND lease = ?",
            deliveries.sorted { $0.row < $1.row }
        ) { [time, $0.row, $0.lease] }
    }

    /// - Returns: false if another dispatcher was faster.
    private func takeProbe(of application: Application.ID, at time: Timestamp) throws -> Bool {
        try connection.execute(
            "UPDATE webhook_failures SET probe_at = ? WHERE application_id = ? AND probe_at <= ?",
            time + DeliverySchedule.probeInterval, application, time
        ).affectedRows > 0
    }
}
