import JSON
import MariaDB
import Time

/// What a batch of outcomes changed, for the metrics.
struct RecordedOutcomes {
    /// Events whose last attempt failed.
    var dead = 0
    var disabledEndpoints = 0
}

/// An application as it is while outcomes of its receiver are recorded.
private struct Receiver {
    let id: Application.ID
    let clientID: String
    let url: String?
    let isDisabled: Bool
    let owner: User.ID?
}

/// What decides whether an outcome still counts for its event.
private struct OutboxEntry {
    let lease: [UInt8]?
    let replayedAt: Timestamp?
    let isDelivered: Bool
}

extension AccountsTransaction {
    /// Records the outcomes of attempts, and decides what comes next (accounts §3.4). Recording them again changes nothing.
    ///
    /// An outcome counts if its event still has the attempt's lease. Otherwise the event was replayed, another dispatcher
    /// has claimed it, or the outcome was recorded by a commit whose answer was lost. Then only a success counts, only once,
    /// and only if the event was not replayed since. If the application has another URL by now, nothing counts, and the
    /// event is due at once. Outcomes of applications and events that are gone are dropped.
    ///
    /// - Parameters:
    ///   - outcomes: in the order in which the attempts ended.
    ///   - time: the database's.
    func record(_ outcomes: [DeliveryOutcome], at time: Timestamp) throws -> RecordedOutcomes {
        var recorded = RecordedOutcomes()
        let (receivers, isExclusive) = try lockReceivers(of: outcomes, at: time)
        let known = outcomes.filter { receivers[$0.delivery.application] != nil }
        if known.isEmpty { return recorded }
        let entries = try lockEntries(of: known)
        var misdirected: [DeliveryOutcome] = []
        var counted: [Application.ID: [DeliveryOutcome]] = [:]
        for outcome in known {
            let delivery = outcome.delivery
            guard let receiver = receivers[delivery.application], let entry = entries[delivery.row] else { continue }
            if receiver.url != delivery.url {
                if entry.lease == delivery.lease { misdirected.append(outcome) }
            } else if entry.counts(outcome) {
                counted[delivery.application, default: []].append(outcome)
            }
        }

        let failing = try connection.failingReceivers(among: counted.keys.sorted())
        for (id, outcomes) in counted.sorted(by: { $0.key < $1.key }) {
            try countInARow(outcomes, of: id, wasFailing: failing.contains(id), at: time)
            if isExclusive, let receiver = receivers[id], let failure = try disabling(receiver, outcomes, at: time) {
                try disable(receiver, failure, at: time)
                recorded.disabledEndpoints += 1
            }
        }
        let all = counted.sorted { $0.key < $1.key }.flatMap(\.value)
        try recordSuccesses(all.filter { $0.failure == nil }, at: time)
        recorded.dead = try recordFailures(all, at: time)
        try release(misdirected.map(\.delivery), at: time)
        try log(all + misdirected)
        return recorded
    }

    // MARK: Locks

    /// The applications of outcomes, locked so that they keep their URLs, and exclusively if one of them may be disabled.
    private func lockReceivers(
        of outcomes: [DeliveryOutcome], at time: Timestamp
    ) throws -> (receivers: [Application.ID: Receiver], isExclusive: Bool) {
        let ids = Set(outcomes.map(\.delivery.application)).sorted()
        if ids.isEmpty { return ([:], false) }
        let isExclusive = try mayDisable(by: outcomes, at: time)
        var sql = ComposedSQL(
            "SELECT id, client_id, webhook_url, webhook_disabled_at IS NOT NULL, owner_user_id FROM applications")
        sql.append(" WHERE id IN ", oneOf: ids)
        // Both in one order, since an exclusive lock after a shared one could be a deadlock. On a cluster they are written.
        let isWritten = isExclusive || connection.isClusterNode
        sql.append(isWritten ? " ORDER BY id FOR UPDATE" : " ORDER BY id LOCK IN SHARE MODE")
        let receivers = try connection.all(sql) { row in
            Receiver(
                id: try row.read(), clientID: try row.read(), url: try row.read(), isDisabled: try row.read(),
                owner: try row.read())
        }
        try connection.writeApplicationsOnCluster(receivers.map(\.id))
        return (Dictionary(uniqueKeysWithValues: receivers.map { ($0.id, $0) }), isExclusive)
    }

    private func mayDisable(by outcomes: [DeliveryOutcome], at time: Timestamp) throws -> Bool {
        let failing = Set(outcomes.filter { $0.failure != nil }.map(\.delivery.application)).sorted()
        if failing.isEmpty { return false }
        if outcomes.contains(where: { $0.failure?.isGone == true }) { return true }
        var sql = ComposedSQL(
            "SELECT 1 FROM webhook_failures WHERE failing_since <= ?", time - DeliverySchedule.failureLimit)
        sql.append(" AND application_id IN ", oneOf: failing)
        sql.append(" LIMIT 1")
        return try connection.first(sql) { row in try row.read(Int.self) } != nil
    }

    private func lockEntries(of outcomes: [DeliveryOutcome]) throws -> [Int64: OutboxEntry] {
        var sql = ComposedSQL("SELECT id, lease, replayed_at, delivered_at IS NOT NULL FROM webhook_outbox")
        sql.append(" WHERE id IN ", oneOf: outcomes.map(\.delivery.row).sorted())
        sql.append(" ORDER BY id FOR UPDATE")
        let entries = try connection.all(sql) { row in
            (
                try row.read(Int64.self),
                OutboxEntry(lease: try row.read(), replayedAt: try row.read(), isDelivered: try row.read())
            )
        }
        return Dictionary(uniqueKeysWithValues: entries)
    }

    // MARK: Endpoints

    /// Counts failures in a row, and opens the breaker after the fifth.
    ///
    /// - Parameter wasFailing: false if the application had no row without a lock.
    private func countInARow(
        _ outcomes: [DeliveryOutcome], of application: Application.ID, wasFailing: Bool, at time: Timestamp
    ) throws {
        let failures = outcomes.reversed().prefix { $0.failure != nil }.count
        if wasFailing, failures < outcomes.count { try forgetWebhookFailures(of: application) }
        if failures == 0 { return }
        let limit = DeliverySchedule.breakerLimit
        let probeAt = time + DeliverySchedule.probeInterval
        // Each assignment reads what the row had before.
        try connection.execute(
            """
            INSERT INTO webhook_failures (application_id, failures, failing_since, failed_at, probe_at)
            VALUES (?, ?, ?, ?, IF(? >= ?, ?, NULL))
            ON DUPLICATE KEY UPDATE
                failing_since = IF(failed_at < ?, VALUES(failing_since), failing_since),
                probe_at = COALESCE(probe_at, IF(failures + VALUES(failures) >= ?, ?, NULL)),
                failures = failures + VALUES(failures), failed_at = VALUES(failed_at)
            """, application, failures, time, time, failures, limit, probeAt, time - DeliverySchedule.longestSilence,
            limit, probeAt)
    }

    /// The failure that disables a receiver; nil if none does.
    private func disabling(
        _ receiver: Receiver, _ outcomes: [DeliveryOutcome], at time: Timestamp
    ) throws -> DeliveryFailure? {
        if receiver.isDisabled { return nil }
        if let gone = outcomes.first(where: { $0.failure?.isGone == true }) { return gone.failure }
        guard let failure = outcomes.last?.failure else { return nil }
        let isLong = try connection.first(
            "SELECT failing_since <= ? FROM webhook_failures WHERE application_id = ?",
            time - DeliverySchedule.failureLimit, receiver.id
        ) { row in try row.read(Bool.self) }
        return isLong == true ? failure : nil
    }

    /// - Parameter receiver: locked exclusively.
    private func disable(_ receiver: Receiver, _ failure: DeliveryFailure, at time: Timestamp) throws {
        try connection.execute("UPDATE applications SET webhook_disabled_at = ? WHERE id = ?", time, receiver.id)
        audit(
            .webhookDisabled, user: receiver.owner, actor: .application(receiver.id),
            ["client_id": .string(receiver.clientID), "failure_reason": .string(failure.reason)])
    }

    // MARK: Events

    private func recordSuccesses(_ outcomes: [DeliveryOutcome], at time: Timestamp) throws {
        try connection.executeMany(
            """
            UPDATE webhook_outbox
            SET attempts = attempts + 1, delivered_at = ?, dlq_at = NULL, next_attempt_at = NULL, lease = NULL,
                failure_reason = NULL
            WHERE id = ?
            """, outcomes
        ) { [time, $0.delivery.row] }
    }

    /// - Returns: for how many events it was the last attempt.
    private func recordFailures(_ outcomes: [DeliveryOutcome], at time: Timestamp) throws -> Int {
        let failures = outcomes.compactMap {
            outcome -> (delivery: WebhookDelivery, reason: String, next: Timestamp?)? in
            guard let failure = outcome.failure else { return nil }
            // A probe spends no attempt, and goes to the end of the queue: another event may be one that is taken.
            let wait =
                outcome.delivery.isProbe
                ? DeliverySchedule.probeInterval
                : DeliverySchedule.wait(afterFailures: outcome.delivery.attempt, retryAfter: outcome.retryAfter)
            return (outcome.delivery, failure.reason, wait.map { time + $0 })
        }
        try connection.executeMany(
            """
            UPDATE webhook_outbox
            SET attempts = attempts + ?, next_attempt_at = ?, dlq_at = ?, lease = NULL, failure_reason = ?
            WHERE id = ?
            """, failures
        ) { [$0.delivery.isProbe ? 0 : 1, $0.next, $0.next == nil ? time : nil, $0.reason, $0.delivery.row] }
        return failures.count { $0.next == nil }
    }

    private func log(_ outcomes: [DeliveryOutcome]) throws {
        try connection.executeMany(
            """
            INSERT INTO webhook_attempts (application_id, event_id, event_type, attempt, at, status, duration_ms,
                                          failure_reason)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """, outcomes
        ) { outcome in
            let delivery = outcome.delivery
            return [
                delivery.application, delivery.eventID, delivery.eventType, delivery.attempt, delivery.claimedAt,
                outcome.status, Int(outcome.duration / .milliseconds(1)), outcome.failure?.reason,
            ]
        }
    }
}

extension OutboxEntry {
    /// Of an attempt at the URL that the application still has.
    fileprivate func counts(_ outcome: DeliveryOutcome) -> Bool {
        if lease == outcome.delivery.lease { return true }
        return outcome.failure == nil && !isDelivered && replayedAt == outcome.delivery.replayedAt
    }
}

extension Connection {
    /// Those whose last attempt failed, without a lock.
    fileprivate func failingReceivers(among applications: [Application.ID]) throws -> Set<Application.ID> {
        if applications.isEmpty { return [] }
        var sql = ComposedSQL("SELECT application_id FROM webhook_failures")
        sql.append(" WHERE application_id IN ", oneOf: applications)
        return Set(try all(sql) { row in try row.read(Application.ID.self) })
    }
}

extension AccountsTransaction {
    /// Forgets that an endpoint failed: it is another one now, or is to be tried again.
    func forgetWebhookFailures(of application: Application.ID) throws {
        try connection.execute("DELETE FROM webhook_failures WHERE application_id = ?", application)
    }
}
